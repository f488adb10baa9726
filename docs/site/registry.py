"""Makes the pages of algorithms, environments, trust models and tables of a spec from `bandana list --json`."""

import json
import subprocess

KINDS = {
    "algorithms": ("Algorithms", "algorithm.name", "every algorithm and its options"),
    "environments": ("Environments", "environment.kind", "every environment and its options"),
    "privatizers": ("Trust models", "privacy.model", "every trust model and its options"),
    "tables": ("Tables of a spec", "", "every key at the top of a spec, and every key of `[service]`"),
}


def ask(bandana, *arguments):
    run = subprocess.run([bandana, "list", *arguments, "--json"], check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


def plain(text):
    """Returns a text of the program with what Markdown would read as markup escaped, except code in backticks."""
    parts = text.split("`")
    for i in range(0, len(parts), 2):
        for mark in "\\*_<>[]|#$":
            parts[i] = parts[i].replace(mark, "\\" + mark)
    return "`".join(parts)


def value(default):
    if isinstance(default, bool):
        return "true" if default else "false"
    return str(default)


def option(one):
    lines = [f"### {one['key']}", plain(one["help"]), ""]
    if one["words"]:
        lines += [f"- `{word}`: {plain(sentence)}" for word, sentence in one["words"].items()]
    else:
        lines.append(f"- Accepted: {plain(one['accepted'])}")
    lines.append("- Default: " + ("none" if one["default"] is None else f"`{value(one['default'])}`"))
    if one["applies"]:
        lines.append(f"- Applies {plain(one['applies'])}")
    return "\n".join(lines) + "\n"


def entry(one, kind, names):
    """Describes one entry of the registry, without its name."""
    lines = [plain(one["summary"]), ""]
    if one["paper"]:
        number = one["paper"][:2].lower()
        lines.append(f"- Paper: [{one['paper']}](../../papers/{number}.md)" if number in ("p1", "p2", "p3", "p4", "p5")
                     else f"- Paper: {plain(one['paper'])}")
    if one["worlds"]:
        lines.append("- Environments: " + links(one["worlds"], "environments", names))
    if one["trust"]:
        lines.append("- Trust models: " + links(one["trust"], "privatizers", names))
    if one["played_by"]:
        lines.append("- Algorithms that play it: " + links(one["played_by"], "algorithms", names))
    return "\n".join(lines) + "\n"


def links(words, kind, names):
    return ", ".join(f"[{word}](../{kind}/{word}.md)" if word in names[kind] else f"`{word}`" for word in words)


def page(name, entries, kind, names):
    title, key, _ = KINDS[kind]
    chosen = f"`{key} = \"{name}\"`. " if key else ""
    text = [f"# {name}\n", f"{chosen}This page is made from the registry; `bandana list {kind} {name}` prints the same.\n"]
    for one in entries:
        if len(entries) > 1:
            where = one["worlds"] if kind == "algorithms" else one["played_by"]
            text.append("## " + ("In " if kind == "algorithms" else "For ") + ", ".join(where) + "\n")
        text.append(entry(one, kind, names))
        if len(entries) == 1:
            text.append("## Options\n" if one["options"] else "It has no options.\n")
        text += [option(o) for o in one["options"]]
    return "\n".join(text)


def write(stage, bandana):
    """Writes all pages; returns (place, sentence) of the index of each kind."""
    lists = {kind: ask(bandana, kind) for kind in KINDS}
    names = {kind: {one["name"] for one in entries} for kind, entries in lists.items()}
    indexes = []
    for kind, (title, key, sentence) in KINDS.items():
        grouped = {}
        for one in lists[kind]:
            grouped.setdefault(one["name"], []).append(one)
        rows = []
        for name, entries in grouped.items():
            stage.write(f"reference/{kind}/{name}.md", page(name, entries, kind, names))
            rows.append(f"- [{name}]({name}.md): " + " ".join(plain(one["summary"]) for one in entries))
        listed = "\n".join(["", "```{toctree}", ":hidden:", "", *(f"{name}.md" for name in grouped), "```", ""])
        stage.write(f"reference/{kind}/index.md", f"# {title}\n\n" + (f"The values of `{key}`.\n\n" if key else "") + "\n".join(rows) + "\n" + listed)
        indexes.append((f"{kind}/index.md", sentence))
    return indexes
