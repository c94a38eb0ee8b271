"""LlamaIndex: responses with their source nodes, and lists of nodes (docs/spec/adapters/llamaindex.md)."""

from kansho_sign.adapters.nodes import Node
from kansho_sign.adapters.reading import Reader, Reading, Reference, SourcesMap
from kansho_sign.adapters.values import hint, loose, named, text_of

__all__ = ["read"]

FORMAT = "give a Response {response, source_nodes}, or an array of nodes, with or without scores"
METADATA = (("file_path", "filename"), ("file_name", "filename"), ("title", "title"), ("url", "uri"))
# NodeRelationship.SOURCE, by the value that Python dumps and by its name.
SOURCE = ("1", "SOURCE")


def read(answer: object, sources: SourcesMap) -> Reading:
    """The text of every source node, in their order.

    Raises InputError ``adapter.shape`` where it is neither a response nor nodes; ``adapter.map_conflict``;
    ``limits.items`` where it is more than an answer may hold.
    """
    root, reader = Node(answer), Reader(sources)
    if type(answer) is list:
        _nodes(reader, root)
    elif type(answer) is dict and "source_nodes" in answer:
        found = root.get("source_nodes")
        numbers = _nodes(reader, found) if found else []
        response = root.get("response")
        # The object of a PydanticResponse is data, not prose.
        if response is not None and type(response.value) is not dict:
            reader.annotate(response.string(), numbers)
    else:
        raise root.refuse("is no response of LlamaIndex", FORMAT)
    return reader.reading()


def _nodes(reader: Reader, nodes: Node) -> list[int]:
    return [_cite(reader, one, position) for position, one in enumerate(nodes.items(), start=1)]


def _cite(reader: Reader, item: Node, position: int) -> int:
    node = item.get("node") or item
    if not node.members().keys() & {"text", "text_resource", "id_"}:
        raise node.refuse("is no node", FORMAT)
    text, offsets = _text(node), hint(node.value.get("start_char_idx"), node.value.get("end_char_idx"))
    if offsets is None:
        text = _unnumbered(text, position)
    return reader.cite(_references(node), text, item.path, offsets)


def _text(node: Node) -> str:
    plain, resource = node.get("text"), node.get("text_resource")
    inner = resource.get("text") if resource else None
    if plain and inner and plain.string() != inner.string():
        raise node.refuse("has two texts that differ, in text and in text_resource")
    return text_of(plain or inner)


def _unnumbered(text: str, position: int) -> str:
    """The chunk inside the heading and the line end that CitationQueryEngine puts around its nodes.

    It numbers them from 1 in their order and takes away their offsets; only a node that fits in all of it is unwrapped.
    """
    before, after = f"Source {position}:\n", "\n"
    if text.startswith(before) and text.endswith(after) and len(text) > len(before):
        return text[len(before) : -len(after)]
    return text


def _references(node: Node) -> list[Reference]:
    references: list[Reference] = []
    # A dump by alias calls the metadata extra_info.
    relationships, metadata = node.get("relationships"), node.get("metadata", "extra_info")
    if relationships and (source := relationships.get(*SOURCE)) is not None:
        references += named("id", source.get("node_id"))
    references += named("id", node.get("id_"))
    members = metadata.members() if metadata else {}
    for name, by in METADATA:
        references += loose(by, members.get(name))
    return references
