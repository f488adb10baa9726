#include "bandana/core/options.h"

#include <limits>

#include "bandana/core/status.h"
#include "gmock/gmock.h"

namespace bandana {
namespace {

enum class Colour { kRed, kBlue };

struct Paint {
  double litres = 1.5;
  std::optional<double> shade;
  Count coats = 2;
  std::optional<Count> brushes;
  Colour colour = Colour::kBlue;
  bool glossy = false;
  std::string brand;
  std::vector<double> mix;
};

std::vector<Option> PaintOptions() {
  using P = Paint;
  return OptionsFor<P>("paint")
      .Number("litres", Claims::kKept, &P::litres, Positive, "a finite number > 0", "How much there is.")
      .Number("shade", Claims::kKept, &P::shade, Probability, "a number in (0, 1)", "How dark it is.")
      .Integer("coats", Claims::kKept, &P::coats, 1, "How often it is painted.", 9)
      .Integer("brushes", Claims::kKept, &P::brushes, 1, "How many brushes there are.")
      .Choice<Colour>("colour", Claims::kKept, &P::colour,
                      {{"red", Colour::kRed, "Red."}, {"blue", Colour::kBlue, "Blue."}}, "Its colour.")
      .Flag("glossy", Claims::kKept, &P::glossy, "Whether it shines.")
      .When([](const P& p) { return p.colour == Colour::kRed; }, "with colour = red")
      .Text("brand", Claims::kKept, &P::brand, "a name", "Who made it.")
      .Numbers("mix", Claims::kKept, &P::mix, NonNegative, "finite numbers >= 0", "What it is mixed from.")
      .options();
}

absl::StatusOr<Paint> Read(const Values& values) {
  BANDANA_ASSIGN_OR_RETURN(const Resolved resolved, Resolve(PaintOptions(), Paint{}, values));
  return std::any_cast<Paint>(resolved.params);
}

std::string RefusedKey(const Values& values) {
  return InputErrorOf(Read(values).status()).value_or(InputError{}).key;
}

TEST(OptionsTest, DefaultsAreThoseOfTheStruct) {
  const Resolved resolved = Resolve(PaintOptions(), Paint{}, {}).value();
  EXPECT_EQ(resolved.values.at("litres"), Value(1.5));
  EXPECT_EQ(resolved.values.at("shade"), Value("auto"));
  EXPECT_EQ(resolved.values.at("coats"), Value(std::int64_t{2}));
  EXPECT_EQ(resolved.values.at("brushes"), Value("auto"));
  EXPECT_EQ(resolved.values.at("colour"), Value("blue"));
  EXPECT_EQ(resolved.values.at("mix"), Value("auto"));
  EXPECT_FALSE(resolved.values.contains("glossy")) << "it has no effect unless the paint is red";
}

TEST(OptionsTest, ValuesReachTheirFields) {
  const Paint paint = Read({{"litres", 3},
                            {"shade", 0.25},
                            {"brushes", 7},
                            {"colour", "red"},
                            {"glossy", true},
                            {"brand", "Own"},
                            {"mix", std::vector<std::int64_t>{1, 2}}})
                          .value();
  EXPECT_EQ(paint.litres, 3);
  EXPECT_EQ(paint.shade, 0.25);
  EXPECT_EQ(paint.brushes, 7);
  EXPECT_EQ(paint.colour, Colour::kRed);
  EXPECT_TRUE(paint.glossy);
  EXPECT_EQ(paint.brand, "Own");
  EXPECT_EQ(paint.mix, (std::vector<double>{1, 2}));
}

TEST(OptionsTest, AutoEmptiesAField) {
  EXPECT_EQ(Read({{"shade", "auto"}, {"brushes", "auto"}, {"mix", "auto"}})->shade, std::nullopt);
}

TEST(OptionsTest, BadValuesAreRefusedByName) {
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(RefusedKey({{"litres", bad}}), "litres") << bad;
  }
  EXPECT_EQ(RefusedKey({{"litres", "auto"}}), "litres");
  EXPECT_EQ(RefusedKey({{"litres", true}}), "litres");
  EXPECT_EQ(RefusedKey({{"shade", 1}}), "shade");
  EXPECT_EQ(RefusedKey({{"coats", 0}}), "coats");
  EXPECT_EQ(RefusedKey({{"coats", 10}}), "coats");
  EXPECT_EQ(RefusedKey({{"coats", 2.0}}), "coats") << "a whole number is written without a point";
  EXPECT_EQ(RefusedKey({{"coats", "auto"}}), "coats");
  EXPECT_EQ(RefusedKey({{"colour", "green"}}), "colour");
  EXPECT_EQ(RefusedKey({{"mix", std::vector<double>{1, -1}}}), "mix");
  EXPECT_EQ(RefusedKey({{"mix", std::vector<double>{}}}), "mix");
  EXPECT_EQ(RefusedKey({{"brand", 1}}), "brand");
}

TEST(OptionsTest, AnUnknownOptionIsAnsweredWithTheNearest) {
  EXPECT_THAT(std::string(Read({{"colur", "red"}}).status().message()), ::testing::HasSubstr("colour"));
}

TEST(OptionsTest, ARequiredOptionMustBeGiven) {
  using P = Paint;
  const std::vector<Option> options =
      OptionsFor<P>("paint")
          .Number("litres", Claims::kKept, &P::litres, Positive, "a finite number > 0", "Much.")
          .Required()
          .options();
  EXPECT_FALSE(Resolve(options, Paint{}, {}).ok());
  EXPECT_TRUE(Resolve(options, Paint{}, {{"litres", 2}}).ok());
}

struct House : Paint {
  Count doors = 1;
};

TEST(OptionsTest, OptionsOfABaseAreOptionsOfWhatDerivesFromIt) {
  OptionsFor<Paint> paint("paint");
  paint.Number("litres", Claims::kKept, &Paint::litres, Positive, "a finite number > 0",
               "How much there is.");
  OptionsFor<House> house("house");
  house.Integer("doors", Claims::kKept, &House::doors, 1, "How many doors there are.").Also(paint);
  const Resolved resolved = Resolve(house.options(), House{}, {{"litres", 9}, {"doors", 3}}).value();
  EXPECT_EQ(std::any_cast<const House&>(resolved.params).litres, 9);
  EXPECT_EQ(std::any_cast<const House&>(resolved.params).doors, 3);
}

}  // namespace
}  // namespace bandana
