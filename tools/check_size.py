"""Keeps rooms small: the length of files and functions, the number of parameters and of public methods."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FILE_LINES = 400
FUNCTION_LINES = 40
TEST_LINES = 60
POSITIONAL = 5
PARAMETERS = 12
METHODS = 15
ROOT = Path(__file__).resolve().parent.parent
CHECKED = ("voiceagent", "tools", "benchmarks", "examples", "tests")

ALLOWED = {"RoomEngine": 25, "LiveRoom": 16, "Channel": 16}
"""Classes that may have more public methods: the engine is the one object that a host holds, its methods are the contract."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that grew too big, and where."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


def faults(path: str, source: str) -> Iterator[Fault]:
    """What is too big in one file. A docstring does not count towards a function's length, nor do `self` and `cls`.

    Five parameters may be given by place; options with names of their own (keyword-only) may come on top, up to twelve in
    all. A command of the command line is exempt from the number: its parameters are the options a person types.
    """
    lines = source.count("\n") + (not source.endswith("\n"))
    if lines > FILE_LINES:
        yield Fault(path, 1, f"{lines} lines, over {FILE_LINES}: a second noun lives here")
    for node in ast.walk(ast.parse(source, path)):
        if isinstance(node, ast.ClassDef):
            yield from _class_faults(path, node)
        elif isinstance(node, Function):
            yield from _function_faults(path, node)


def _class_faults(path: str, node: ast.ClassDef) -> Iterator[Fault]:
    public = [item.name for item in node.body if isinstance(item, Function) and not item.name.startswith("_")]
    most = ALLOWED.get(node.name, METHODS)
    if len(public) > most and not node.name.startswith("Test"):
        yield Fault(path, node.lineno, f"class {node.name} has {len(public)} public methods, over {most}")


def _function_faults(path: str, node: Function) -> Iterator[Fault]:
    is_test = "tests" in Path(path).parts
    length, most = _length(node), TEST_LINES if is_test else FUNCTION_LINES
    if length > most:
        yield Fault(path, node.lineno, f"{node.name}() has {length} lines, over {most}")
    if is_test or "cli" in Path(path).parts:
        return
    placed = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args) if arg.arg not in ("self", "cls")]
    if len(placed) > POSITIONAL:
        yield Fault(path, node.lineno, f"{node.name}() takes {len(placed)} parameters by place, over {POSITIONAL}")
    total = len(placed) + len(node.args.kwonlyargs)
    if total > PARAMETERS:
        yield Fault(path, node.lineno, f"{node.name}() takes {total} parameters, over {PARAMETERS}: a settings value is missing")


def _length(node: Function) -> int:
    end = node.end_lineno or node.lineno
    length = end - node.lineno + 1
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        length -= (first.end_lineno or first.lineno) - first.lineno + 1
    return length


def main() -> int:
    """Prints every fault under the folders named on the command line (the whole project's by default); 1 when there is any."""
    roots = [Path(name) for name in sys.argv[1:]] or [ROOT / name for name in CHECKED]
    files = sorted(file for root in roots for file in (root.rglob("*.py") if root.is_dir() else [root]))
    found = [fault for file in files for fault in faults(_shown(file), file.read_text())]
    for fault in found:
        print(fault)
    print(f"size: {len(files)} files, {len(found)} too big")
    return 1 if found else 0


def _shown(file: Path) -> str:
    return str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else str(file)


if __name__ == "__main__":
    sys.exit(main())
