"""Makes a page of each exhibit: its file, how to run it, and the verdicts of the last full run.

The verdicts are those of docs/papers/README.md, which script/papers writes from the verdict.json files of that run.
"""

import re

import markdown
import registry


def verdicts():
    """Returns {exhibit: [(category, claim, paper)]} from the summary of the papers."""
    found, category = {}, None
    for line in (markdown.ROOT / "docs/papers/README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("### "):
            category = line[4:]
        row = re.fullmatch(r"\| (p\d-[\w-]+) \| (.*) \| (.*) \|", line)
        if row and category:
            found.setdefault(row[1], []).append((category, row[2], row[3]))
        item = re.match(r"- (p\d-[\w-]+): (.*)", line)
        if item and category:
            found.setdefault(item[1], []).append((category, item[2], ""))
    return found


def page(name, summary, rows):
    text = ["---\norphan: true\n---\n", f"# {name}\n", registry.plain(summary) + ".\n"]
    text.append(f"Run it again with `bandana reproduce {name}`. The default is `--scale quick`; `--scale smoke` is faster, "
                "and `--scale paper` has the paper's numbers.\n")
    text.append("## Verdicts\n")
    if rows:
        text.append("These are the verdicts of the last run of all exhibits. The [summary of the papers](../../papers/index.md) says how to read them.\n")
    else:
        text.append("The [summary of the papers](../../papers/index.md) has no claim of this exhibit.\n")
    for category in dict.fromkeys(row[0] for row in rows):
        text.append(f"### {category}\n")
        text += [f"- {claim}" + (f" ({paper})" if paper else "") for group, claim, paper in rows if group == category]
        text.append("")
    spec = (markdown.ROOT / f"experiments/exhibits/{name}.toml").read_text(encoding="utf-8")
    text.append(f"## The file\n\nThis is `experiments/exhibits/{name}.toml`. [Exhibits and claims](../../exhibits.md) explains its words.\n\n`````toml\n{spec.rstrip()}\n`````\n")
    return "\n".join(text)


def write(stage, bandana):
    """Writes a page for each exhibit and their index; returns (place, sentence) of the index."""
    last = verdicts()
    rows = []
    for one in registry.ask(bandana, "exhibits"):
        name, summary = one["name"], one["summary"]
        stage.write(f"reference/exhibits/{name}.md", page(name, summary, last.pop(name, [])))
        rows.append(f"- [{name}]({name}.md): {registry.plain(summary)}")
    if last:
        raise SystemExit(f"docs/papers/README.md has verdicts of exhibits that do not exist: {', '.join(sorted(last))}")
    stage.write("reference/exhibits/index.md", "# The exhibits\n\nAn exhibit runs a figure or table of a paper again and judges each claim of the paper.\n\n"
                + "\n".join(rows) + "\n")
    return "exhibits/index.md", "every exhibit, with its last verdicts"
