"""Makes the C++ reference: one page for each public header, with what it declares and what it includes.

doxygen reads the headers, and breathe shows what it has found. This file chooses what stands on which page.
"""

import pathlib
import re
import subprocess
import xml.etree.ElementTree as ET

from markdown import ROOT

DIRECTIVES = {"class": "doxygenclass", "struct": "doxygenstruct", "function": "doxygenfunction", "enum": "doxygenenum",
              "typedef": "doxygentypedef", "variable": "doxygenvariable"}


def headers():
    """Returns {public header: the headers that it shows, itself first}. A header is shown on the first page that has it."""
    found, seen = {}, set()
    public = sorted((ROOT / "include/bandana").glob("*.h"), key=lambda path: (path.name == "bandana.h", path.name))
    for path in public:
        names = re.findall(r'#include "(bandana/[^"]+)"', path.read_text(encoding="utf-8"))
        inner = [name for name in names if (ROOT / "src" / name).is_file() and name not in seen]
        seen.update(inner)
        found[f"bandana/{path.name}"] = [f"bandana/{path.name}", *inner]
    return found


def run_doxygen(out, shown):
    files = [ROOT / "include" / name if (ROOT / "include" / name).is_file() else ROOT / "src" / name for names in shown.values() for name in names]
    settings = f"""
PROJECT_NAME = Bandana
OUTPUT_DIRECTORY = {out}
INPUT = {" ".join(map(str, files))}
STRIP_FROM_PATH = {ROOT}/include {ROOT}/src
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
WARN_LOGFILE = {out}/warnings.txt
JAVADOC_AUTOBRIEF = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = BANDANA_EXPORT=
"""
    out.mkdir(parents=True, exist_ok=True)
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True)


def mend(path, tree):
    """`local` is a keyword of another language that doxygen reads, so a field of this name has lost it."""
    for member in tree.iter("memberdef"):
        name = member.find("name")
        if member.get("kind") == "variable" and member.find("type").text is None and name.text == "LocalData":
            member.find("type").text = "LocalData"
            scope = member.find("definition").text.rpartition("::")[0]
            member.find("definition").text = f"LocalData {scope}::local"
            member.find("qualifiedname").text = f"{scope}::local"
            name.text = "local"
            tree.write(path, encoding="UTF-8", xml_declaration=True)


def declarations(xml):
    """Returns {header: [(line, directive)]} of everything at the level of a namespace."""
    found = {}
    for compound in ET.parse(xml / "index.xml").getroot().findall("compound"):
        kind, name = compound.get("kind"), compound.findtext("name")
        path = xml / f"{compound.get('refid')}.xml"
        if kind in ("class", "struct", "namespace"):
            tree = ET.parse(path)
            mend(path, tree)
            top = tree.getroot().find("compounddef")
        if kind in ("class", "struct"):
            nested = any(one.get("refid") == compound.get("refid") for one in classes(xml))
            if "<" not in name and not nested:
                place = top.find("location")
                found.setdefault(place.get("file"), []).append((int(place.get("line")), f"{DIRECTIVES[kind]}:: {name}\n   :members:"))
        elif kind == "namespace" and "internal" not in name:
            for member in top.iter("memberdef"):
                full = f"{name}::{member.findtext('name')}" + (member.findtext("argsstring") if member.get("kind") == "function" else "")
                place = member.find("location")
                found.setdefault(place.get("file"), []).append((int(place.get("line")), f"{DIRECTIVES[member.get('kind')]}:: {full}"))
    return {name: sorted(set(rows)) for name, rows in found.items()}


def classes(xml, cache={}):
    """Returns the references to classes within classes."""
    if xml not in cache:
        cache[xml] = [inner for path in [*xml.glob("class*.xml"), *xml.glob("struct*.xml")]
                      for inner in ET.parse(path).getroot().iter("innerclass")]
    return cache[xml]


def opening(path):
    """Returns the comment at the top of a header, which says what it is for."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("///"):
            lines.append(line[4:])
        elif lines:
            break
    return "\n".join(lines)


def write(stage, folder):
    """Runs doxygen in `folder` and writes the pages; returns (place, sentence) of their index."""
    shown = headers()
    run_doxygen(folder, shown)
    found = declarations(folder / "xml")
    rows, places = [], []
    for name, inner in shown.items():
        comment = opening(ROOT / "include" / name)
        comment, _, code = comment.partition("\n\n  ")
        text = [f"# {name}\n", f"`#include <{name}>`\n", comment + "\n"]
        for header in inner:
            if header in found:
                text.append(f"## {header}\n\n```{{eval-rst}}")
                text += [f".. {directive}\n" for _, directive in found[header]]
                text.append("```\n")
        others = [one for one in shown if one != name and f'"{one}"' in (ROOT / "include" / name).read_text(encoding="utf-8")]
        if others:
            text.append("It also has " + ", ".join(f"[{one}]({pathlib.Path(one).stem}.md)" for one in others) + ".\n")
        place = f"{pathlib.Path(name).stem}.md"
        stage.write(f"reference/cpp/{place}", "\n".join(text))
        rows.append(f"- [{name}]({place}): {comment.split('. ')[0].rstrip('.').replace(chr(10), ' ')}.")
        places.append(place)
    listed = "\n".join(["", "```{toctree}", ":hidden:", "", *places, "```", ""])
    stage.write("reference/cpp/index.md", "# The C++ headers\n\nThese headers are the public interface. A program needs `find_package(bandana)` "
                "and `bandana::bandana`. The headers below them are installed, too, but may change.\n\n" + "\n".join(rows) + "\n" + listed)
    return "cpp/index.md", "the public C++ headers"
