"""The forest of snapshots and environments."""

from __future__ import annotations

from typing import Any, List

from ..data.store import TreeNode
from .decode import decode


def nested(flat: Any) -> List[TreeNode]:
    """The daemon lists each before its children, with the index of its parent."""
    nodes: List[TreeNode] = []
    roots: List[TreeNode] = []
    for each in flat if isinstance(flat, list) else []:
        node = decode(TreeNode, each.get("node"), "tree")
        nodes.append(node)
        above = each.get("above")
        (roots if above is None else nodes[above].children).append(node)
    return roots
