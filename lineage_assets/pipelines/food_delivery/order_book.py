"""The order book behind the feed: what is ordered on a day, and when each order changes state.

Rows only; refuses to know files and faults. A day's orders depend on the settings and the day alone, through
`Random.random()`, whose sequence Python keeps from version to version.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from random import Random

from lineage_assets.pipelines.food_delivery.city import FeedSettings, Row, menu_item_ids, pick

_COMMENTS = (None, None, None, "Ring twice", "No onions, please", "Leave it at the door")

_KITCHENS_OPEN = timedelta(hours=10)
_OPEN_SECONDS = 14 * 3600

_SHORTEST_SECONDS = 15 * 60
_SPREAD_SECONDS = 80 * 60

_NEVER_DISPATCHED = 0.01
_NEVER_DELIVERED = 0.03
_DISCOUNTED = 0.1


@dataclass(frozen=True, slots=True)
class _Order:
    """An order from its placing to its end; None for what never happens."""

    id: int
    placed_on: datetime
    dispatched_on: datetime | None
    delivered_on: datetime | None
    restaurant_id: int
    menu_item_id: int
    quantity: int
    discount_id: int | None
    comment: str | None
    customer_id: int
    driver_id: int


def orders(settings: FeedSettings, day: date) -> Iterator[Row]:
    """The orders placed on the day."""
    for order in _placed(settings, day):
        yield {
            "id": order.id,
            "placed_on": _instant(order.placed_on),
            "menu_item_id": order.menu_item_id,
            "quantity": order.quantity,
            "discount_id": order.discount_id,
            "comment": order.comment,
        }


def order_status(settings: FeedSettings, day: date) -> Iterator[Row]:
    """The states that orders reached on the day, those placed the evening before included."""
    for order in (*_placed(settings, day - timedelta(days=1)), *_placed(settings, day)):
        times = {"PLACED": order.placed_on, "DISPATCHED": order.dispatched_on, "DELIVERED": order.delivered_on}
        for number, (status, at) in enumerate(times.items()):
            if at is not None and at.date() == day:
                yield {
                    "id": 3 * order.id + number,
                    "transitioned_at": _instant(at),
                    "status": status,
                    "order_id": order.id,
                    "customer_id": order.customer_id,
                    "restaurant_id": order.restaurant_id,
                    "driver_id": order.driver_id,
                }


def _placed(settings: FeedSettings, day: date) -> Iterator[_Order]:
    day_number = (day - settings.opening).days
    if day_number < 0:
        return
    # Seeded with text: hashed the same way everywhere, and no two days near each other start alike.
    random = Random(f"{settings.seed} {day.isoformat()}")  # noqa: S311 - a feed for demos keeps no secrets
    ids_a_day = 2 * settings.orders_a_day
    first_id = day_number * ids_a_day + 1
    for id_ in range(first_id, first_id + settings.orders_a_day + _below(random, settings.orders_a_day // 5 + 1)):
        yield _order(settings, day, random, id_, id_ - ids_a_day)


def _order(settings: FeedSettings, day: date, random: Random, id_: int, day_before: int) -> _Order:
    restaurant = _one_of(random, settings.restaurant_ids(day))
    # The later of two draws: the evening is busy, and some of its orders arrive after midnight.
    opened = datetime.combine(day, time(), timezone.utc) + _KITCHENS_OPEN
    placed_on = opened + timedelta(seconds=int(_OPEN_SECONDS * max(random.random(), random.random())))
    # Most take a quarter of an hour, one in five three quarters. Products, as powers differ between C libraries.
    luck = random.random()
    seconds = int(_SHORTEST_SECONDS + _SPREAD_SECONDS * luck * luck * luck * luck)
    fate = random.random()
    return _Order(
        id=id_,
        placed_on=placed_on,
        dispatched_on=None if fate < _NEVER_DISPATCHED else placed_on + timedelta(seconds=seconds // 3),
        delivered_on=None if fate < _NEVER_DELIVERED else placed_on + timedelta(seconds=seconds),
        restaurant_id=restaurant,
        menu_item_id=pick(menu_item_ids(restaurant), _below(random, 1000)),
        quantity=1 + _below(random, 3),
        discount_id=day_before if random.random() < _DISCOUNTED and day_before > 0 else None,
        comment=pick(_COMMENTS, _below(random, 1000)),
        customer_id=_one_of(random, settings.customer_ids(day)),
        driver_id=_one_of(random, settings.driver_ids(day)),
    )


def _one_of(random: Random, ids: range) -> int:
    return ids[_below(random, len(ids))]


def _below(random: Random, limit: int) -> int:
    # Not randrange: how it turns bits into numbers is not promised to stay.
    return int(random.random() * limit)


def _instant(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
