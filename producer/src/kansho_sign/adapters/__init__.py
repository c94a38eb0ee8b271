"""From other formats to untrusted evidence, at the edge (docs/spec/adapters.md).

Each format is a module with ``read(answer, sources)``: a parsed JSON value and a map of sources in, a
:class:`~kansho_sign.adapters.reading.Reading` out.
"""
