"""Kansho's producer: from source documents to signed, checkable citations.

The stages and their order are in ``pipeline``; the format is specified in ``docs/spec/``.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
