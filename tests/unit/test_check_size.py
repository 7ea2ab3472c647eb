"""The size check finds what grew too big, says where, and leaves the rest alone."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def check_size() -> ModuleType:
    path = Path(__file__).resolve().parents[2] / "tools" / "check_size.py"
    spec = importlib.util.spec_from_file_location("check_size", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def found(check_size: ModuleType, source: str, path: str = "voiceagent/x.py") -> list[str]:
    return [str(fault) for fault in check_size.faults(path, source)]


def test_small_things_pass(check_size: ModuleType) -> None:
    assert found(check_size, "def f(a, b, c, d, e, *, g=1):\n    return a\n") == []


def test_a_long_file(check_size: ModuleType) -> None:
    assert found(check_size, "x = 1\n" * 400) == []
    assert found(check_size, "x = 1\n" * 401)[0].startswith("voiceagent/x.py:1: 401 lines")


def test_a_long_function_without_its_docstring(check_size: ModuleType) -> None:
    doc = '    """One.\n\n    Two.\n    """\n'
    assert found(check_size, "def f():\n" + doc + "    x = 1\n" * 39) == []
    assert "f() has 41 lines" in found(check_size, "def f():\n" + doc + "    x = 1\n" * 40)[0]


def test_many_parameters(check_size: ModuleType) -> None:
    method = "class A:\n    def f(self, a, b, c, d, e{}):\n        return a\n"
    assert found(check_size, method.format("")) == []
    assert "6 parameters by place" in found(check_size, method.format(", g"))[0]
    many = ", ".join(f"k{n}=0" for n in range(13))
    assert "13 parameters" in found(check_size, f"async def f(*, {many}):\n    return 1\n")[0]


def test_a_command_takes_as_many_options_as_people_may_type(check_size: ModuleType) -> None:
    source = "def f(a, b, c, d, e, f, g):\n    return a\n"
    assert found(check_size, source, "voiceagent/cli/talk.py") == []
    assert len(found(check_size, source)) == 1


def test_a_class_with_many_public_methods(check_size: ModuleType) -> None:
    def source(count: int) -> str:
        return "class A:\n" + "".join(
            f"    def m{n}(self):\n        return 1\n    def _p{n}(self):\n        return 1\n" for n in range(count)
        )

    assert found(check_size, source(15)) == []
    assert "class A has 16 public methods" in found(check_size, source(16))[0]
