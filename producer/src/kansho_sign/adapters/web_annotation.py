"""W3C Web Annotation Data Model, Recommendation of 2017-02-23 (docs/spec/adapters/web-annotation.md)."""

from collections.abc import Iterable, Iterator

from kansho_sign.adapters.nodes import Node
from kansho_sign.adapters.reading import Hint, Reader, Reading, Reference, SourcesMap
from kansho_sign.adapters.values import hint, named, text_of

__all__ = ["read"]

FORMAT = "give an Annotation, an AnnotationPage, an AnnotationCollection with its only page, or an array of Annotations"
# Bodies, targets and selectors may come as one, in an array, or in the items of one of these.
SETS = frozenset({"Choice", "Composite", "Independents", "List"})


def read(answer: object, sources: SourcesMap) -> Reading:
    """The quotes that the targets of annotations select, in their order; their bodies are the prose.

    Raises InputError ``adapter.shape`` where it is no annotation, or a collection of which pages are missing;
    ``adapter.map_conflict``; ``limits.items`` where it is more than an answer may hold.
    """
    reader = Reader(sources)
    for annotation in _annotations(Node(answer)):
        _annotation(reader, annotation)
    return reader.reading()


def _annotations(root: Node) -> Iterable[Node]:
    if type(root.value) is list:
        return root.items()
    types = _types(root) if type(root.value) is dict else frozenset()
    if "Annotation" in types:
        return [root]
    if "AnnotationPage" in types:
        return root.need("items").items()
    if "AnnotationCollection" in types:
        return _collected(root)
    raise root.refuse("is no Web Annotation", FORMAT)


def _collected(collection: Node) -> list[Node]:
    page = collection if collection.get("items") else collection.need("first")
    if type(page.value) is str or page.get("next") is not None:
        raise page.refuse("is not the whole collection", "give each page on its own")
    found, total = list(page.need("items").items()), collection.get("total")
    if total is not None and total.integer() > len(found):
        raise total.refuse("counts more annotations than the collection holds", "give each page on its own")
    return found


def _types(node: Node) -> frozenset[str]:
    named_types = node.get("type")
    if named_types is None:
        return frozenset()
    if type(named_types.value) is list:
        return frozenset(one.string() for one in named_types.items())
    return frozenset({named_types.string()})


def _flat(node: Node) -> Iterator[Node]:
    """What stands in arrays and sets, in its order; by a list of what is left to do, since nesting has no bound."""
    left = [node]
    while left:
        one = left.pop()
        if type(one.value) is list:
            left.extend(reversed(list(one.items())))
        elif type(one.value) is dict and _types(one) & SETS:
            left.append(one.need("items"))
        else:
            yield one


def _annotation(reader: Reader, annotation: Node) -> None:
    if "Annotation" not in _types(annotation):
        raise annotation.refuse("is no Annotation", FORMAT)
    target = annotation.need("target")
    numbers = [number for one in _flat(target) for number in _target(reader, one)]
    if not numbers:
        raise target.refuse("names nothing")
    reader.annotate(text_of(annotation.get("bodyValue")), numbers)
    body = annotation.get("body")
    for one in _flat(body) if body else ():
        reader.annotate(one.value if type(one.value) is str else text_of(one.get("value")), numbers)


def _target(reader: Reader, target: Node) -> list[int]:
    if type(target.value) is str:
        return [reader.cite(named("uri", target), "", target.path)]
    selector = target.get("selector")
    alternatives = list(_flat(selector)) if selector else []
    excerpts = [text_of(one.get("exact")) for one in _last(alternatives) if _is(one, "TextQuoteSelector")]
    offsets = _position(alternatives) if len(excerpts) == 1 else None
    references = _source(target)
    return [reader.cite(references, excerpt, target.path, offsets) for excerpt in excerpts or [""]]


def _source(target: Node) -> list[Reference]:
    source = target.get("source") or target.get("id")
    if source is not None and type(source.value) is dict:
        source = source.get("id")
    return named("uri", source)


def _is(selector: Node, name: str) -> bool:
    return type(selector.value) is dict and name in _types(selector)


def _last(selectors: list[Node]) -> Iterator[Node]:
    """The selectors at the ends of refinements: they select, and what they refine only says where."""
    left = selectors[::-1]
    while left:
        one = left.pop()
        refined = one.get("refinedBy") if type(one.value) is not str else None  # a string refers to one elsewhere
        if refined is None:
            yield one
        else:
            left.extend(reversed(list(_flat(refined))))


def _position(alternatives: list[Node]) -> Hint | None:
    """Where the only position says; one that refines counts from the start of what it refines."""
    positions = [one for one in alternatives if _is(one, "TextPositionSelector") and one.get("refinedBy") is None]
    if len(positions) != 1:
        return None
    return hint(positions[0].value.get("start"), positions[0].value.get("end"))
