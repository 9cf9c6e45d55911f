"""Debian 12 pairs PyTorch 1.13.1 with Python 3.11. Its version is told as that of the source tree, 1.13.0a0, which
libraries take for older than 1.13; and a class of torch.distributed has a default that Python 3.11 refuses, because it
has no hash. Both are mended here, for this environment only."""
import dataclasses
import importlib.abc
import importlib.util
import sys

VERSION = "__version__ = '1.13.1'\ndebug = False\ncuda = None\ngit_version = 'unknown'\nhip = None\n"


class Version(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.util.spec_from_loader(name, self) if name == "torch.version" else None

    def exec_module(self, module):
        exec(VERSION, module.__dict__)


get_field = dataclasses._get_field


def forgiving(cls, name, *rest):
    try:
        return get_field(cls, name, *rest)
    except ValueError:
        if not cls.__module__.startswith("torch."):
            raise
        type(cls.__dict__[name].default).__hash__ = object.__hash__
        return get_field(cls, name, *rest)


sys.meta_path.insert(0, Version())
dataclasses._get_field = forgiving
