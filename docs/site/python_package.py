"""Makes the Python reference: the public names of the package `bandana`, by autodoc from its docstrings."""

import importlib
import inspect

MODULES = {  # the modules that a program uses, with what each is for
    "bandana": "Experiments, privacy, environments and algorithms of one's own.",
    "bandana.calibrate": "How much noise a guarantee needs.",
    "bandana.policies": "Policies for a program of one's own.",
}


def public(module):
    """Returns the public names of a module, in its order."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    return [name for name in names if not inspect.ismodule(getattr(module, name)) and not name.startswith("_")]


def directive(module, name):
    thing = getattr(module, name)
    full = f"{module.__name__}.{name}"
    if inspect.isclass(thing):
        return f".. autoclass:: {full}\n   :members:\n   :inherited-members: Exception, ValueError, OSError, TypeError, object, tuple\n"
    return f".. autofunction:: {full}\n" if callable(thing) else f".. autodata:: {full}\n"


def write(stage):
    """Writes a page for each module; returns (place, sentence) of their index."""
    rows, places = [], []
    for name, sentence in MODULES.items():
        module = importlib.import_module(name)
        place = f"{name}.md"
        body = "\n".join(f"## {one}\n\n```{{eval-rst}}\n{directive(module, one)}```\n" for one in public(module))
        stage.write(f"reference/python/{place}", f"# {name}\n\n{sentence}\n\n{body}")
        rows.append(f"- [{name}]({place}): {sentence}")
        places.append(place)
    listed = "\n".join(["", "```{toctree}", ":hidden:", "", *places, "```", ""])
    stage.write("reference/python/index.md", "# The Python package\n\n" + "\n".join(rows) + "\n" + listed)
    return "python/index.md", "the Python package"
