"""The commands that an answer ends with: what mends a partition, or where to look next. Pure; runs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lineage_assets.graph import AssetKey, name_of
from lineage_assets.ledger.record import PartitionRef
from lineage_assets.partitions import PartitionSet, keys_of, ranges_text, set_of
from lineage_assets.questions.known import Known
from lineage_assets.questions.standing import Root, Standing, input_differences
from lineage_assets.questions.suspects import Suspect


def after_why(
    known: Known, ref: PartitionRef, standing: Standing, roots: Sequence[Root], stale: Sequence[PartitionRef]
) -> tuple[str, ...]:
    """What mends a partition, where the trouble began and so for all downstream of it; nothing of one that is good."""
    if known.is_past:
        # What is done today mends what is wrong today; that may be another thing.
        return (_about("why", ref),)
    if standing is Standing.NOT_ADOPTED:
        return (_over_days("adopt", [ref]),)
    if standing is Standing.GOOD:
        return ()
    if roots:
        return mending(roots)
    if standing in (Standing.STALE, Standing.READS_STALE):
        return tuple(_renewing(known, [ref, *stale] if standing is Standing.STALE else stale))
    return (_over_days("backfill", [ref]),)


def to_look_at(ref: PartitionRef, odd: Sequence[Suspect]) -> tuple[str, ...]:
    """Of a partition that is good and may be wrong: the history of what is most telling, else its own."""
    telling = [one for one in odd if not one.is_weak]
    if telling:
        return (_about("history", telling[0].ref),)
    return (_about("history", ref),) if odd else ()


def mending(roots: Iterable[Root]) -> tuple[str, ...]:
    """What makes good where badness began; all downstream of it is made with it."""
    by_asset: dict[tuple[str, AssetKey], list[PartitionRef]] = {}
    for root in roots:
        command = "adopt" if root.state == "not adopted" else "backfill"
        by_asset.setdefault((command, root.ref.asset), []).append(root.ref)
    return tuple(_over_days(command, refs) for (command, _), refs in sorted(by_asset.items()))


def after_impact(
    known: Known, asset: AssetKey, partitions: PartitionSet, roots: Sequence[Root], *, is_to_mend: bool
) -> tuple[str, ...]:
    """What redoes the readers, as a plan to look at first; or what must be made good before they can be."""
    if known.is_past:
        return (f"lineage-assets impact {name_of(asset)} {ranges_text(partitions)}",)
    if roots:
        return mending(roots)
    if not is_to_mend:
        return ()
    first, last = ranges_text(partitions).partition("..")[::2]
    until = f" --to {last}" if last else ""
    return (f"lineage-assets plan {name_of(asset)} --from {first}{until} --without-root",)


def _renewing(known: Known, stale: Sequence[PartitionRef]) -> Iterator[str]:
    """All readers of what was published again, one command an asset; what is stale for another reason by itself."""
    moved: dict[AssetKey, set[PartitionRef]] = {}
    alone: dict[AssetKey, list[PartitionRef]] = {}
    for ref in stale:
        shown = known.published(ref)
        differ = [] if shown is None else list(input_differences(known, shown))
        again = {one.ref for one in differ if one.read is not None and one.now is not None} - set(stale)
        for one in again:
            moved.setdefault(one.asset, set()).add(one)
        if not again and not any(one.ref in stale for one in differ):
            alone.setdefault(ref.asset, []).append(ref)
    yield from (f"{_over_days('backfill', sorted(refs))} --without-root" for _, refs in sorted(moved.items()))
    yield from (_over_days("backfill", refs) for _, refs in sorted(alone.items()))


def _over_days(command: str, refs: Sequence[PartitionRef]) -> str:
    days = keys_of(set_of(ref.partition for ref in refs))
    return f"lineage-assets {command} {name_of(refs[0].asset)} --from {days[0]} --to {days[-1]}"


def _about(command: str, ref: PartitionRef) -> str:
    return f"lineage-assets {command} {name_of(ref.asset)} {ref.partition}"
