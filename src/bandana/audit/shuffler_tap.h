#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bandana/federation/node.h"

namespace bandana::audit {

/// A shuffler whose messages somebody reads on their way in.
class ShufflerTap final : public Node {
 public:
  using See = std::function<void(const Message&)>;

  ShufflerTap(std::unique_ptr<Node> shuffler, See see)
      : shuffler_(std::move(shuffler)), see_(std::move(see)) {}

  absl::Status OnMessage(Context& context, const Message& message) override {
    see_(message);
    return shuffler_->OnMessage(context, message);
  }
  bool finished() const override { return shuffler_->finished(); }
  std::string Save() const override { return shuffler_->Save(); }
  absl::Status Restore(std::string_view saved) override { return shuffler_->Restore(saved); }

 private:
  std::unique_ptr<Node> shuffler_;
  See see_;
};

}  // namespace bandana::audit
