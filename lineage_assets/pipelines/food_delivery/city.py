"""The city behind the feed: its size, and who and what is registered in it as of a day.

Rows only; refuses to know orders, files and faults. Arithmetic on ids and the day: no chance, no clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeVar

from lineage_assets.errors import BadDeclarationError

Row = dict[str, int | str | None]

_T = TypeVar("_T")

_FIRST_NAMES = ("Ada", "Bruno", "Chen", "Dina", "Emil", "Farah", "Goran", "Hana", "Ivo", "Juno", "Kemal")
_LAST_NAMES = ("Abara", "Berg", "Costa", "Dahl", "Endo", "Fiore", "Gupta", "Haas", "Ito", "Kaya", "Lind", "Moss")
_STREETS = ("Canal Street", "Garden Row", "Harbour Road", "Mill Lane", "Station Square", "Tower Hill", "Well Walk")
_KITCHENS = ("Golden Wok", "La Piazza", "Taco Corner", "Noodle Bar", "Green Bowl", "Curry Leaf", "Grill House")
_CARD = {
    "Starters": ("Soup", "Salad", "Dumplings", "Bread"),
    "Mains": ("Noodles", "Curry", "Pizza", "Burger"),
    "Desserts": ("Cake", "Ice cream", "Fruit", "Pudding"),
}
_CARS = (("Toyota", "Yaris"), ("Ford", "Fiesta"), ("Fiat", "Panda"), ("Skoda", "Fabia"))
_COLORS = ("red", "white", "blue", "black", "silver")
_CITIES = 5

_DAYS_TO_NEXT_RESTAURANT = 120
_DAYS_TO_NEXT_DRIVER = 90
_DAYS_TO_NEXT_CUSTOMER = 20


@dataclass(frozen=True, slots=True)
class FeedSettings:
    """How large the city is and when it opened; the defaults are the demo's."""

    seed: int = 20210604
    orders_a_day: int = 50
    """At least; up to a fifth more."""
    opening: date = date(2020, 1, 1)
    """The first day with files; from then on more restaurants, drivers and customers register, a few a year."""
    restaurants: int = 5
    """At the opening, as are drivers and customers."""
    drivers: int = 6
    customers: int = 40

    def __post_init__(self) -> None:
        for name in ("orders_a_day", "restaurants", "drivers", "customers"):
            if getattr(self, name) < 1:
                raise BadDeclarationError(f"number of {name} in the feed", getattr(self, name), "give 1 or more")

    def restaurant_ids(self, day: date) -> range:
        return self._ids(self.restaurants, _DAYS_TO_NEXT_RESTAURANT, day)

    def driver_ids(self, day: date) -> range:
        return self._ids(self.drivers, _DAYS_TO_NEXT_DRIVER, day)

    def customer_ids(self, day: date) -> range:
        return self._ids(self.customers, _DAYS_TO_NEXT_CUSTOMER, day)

    def _ids(self, at_opening: int, days_to_next: int, day: date) -> range:
        return range(1, 1 + at_opening + (day - self.opening).days // days_to_next)


def restaurants(settings: FeedSettings, day: date) -> Iterator[Row]:
    for id_ in settings.restaurant_ids(day):
        at = _registered_at(settings, id_ - settings.restaurants, _DAYS_TO_NEXT_RESTAURANT)
        yield {
            "id": id_,
            "created_at": at,
            "updated_at": at,
            "name": _kitchen(settings, id_),
            "email": f"kitchen.{id_}@example.com",
            "address": _address(settings, id_),
            "phone": _phone(id_),
            "city_id": id_ % _CITIES + 1,
            "business_hours_id": id_ % 3 + 1,
            "description": None,
        }


def drivers(settings: FeedSettings, day: date) -> Iterator[Row]:
    for id_ in settings.driver_ids(day):
        at = _registered_at(settings, id_ - settings.drivers, _DAYS_TO_NEXT_DRIVER)
        make, model = pick(_CARS, settings.seed + id_)
        yield {
            "id": id_,
            "created_at": at,
            "updated_at": at,
            "name": _person(settings, 5 * id_),
            "email": f"driver.{id_}@example.com",
            "phone": _phone(20_000 + id_),
            "car_make": make,
            "car_model": model,
            "car_year": str(2010 + id_ % 10),
            "car_color": pick(_COLORS, settings.seed + id_),
            "car_license_plate": f"FD-{1000 + id_}",
        }


def customers(settings: FeedSettings, day: date) -> Iterator[Row]:
    for id_ in settings.customer_ids(day):
        at = _registered_at(settings, id_ - settings.customers, _DAYS_TO_NEXT_CUSTOMER)
        yield {
            "id": id_,
            "created_at": at,
            "updated_at": at,
            "name": _person(settings, id_),
            "email": f"customer.{id_}@example.com",
            "address": _address(settings, 2 * id_),
            "phone": _phone(40_000 + id_),
            "city_id": id_ % _CITIES + 1,
        }


def menus(settings: FeedSettings, day: date) -> Iterator[Row]:
    for restaurant in settings.restaurant_ids(day):
        name = f"Menu of {_kitchen(settings, restaurant)}"
        yield {"id": 10 * restaurant, "name": name, "restaurant_id": restaurant, "description": None}


def categories(settings: FeedSettings, day: date) -> Iterator[Row]:
    for restaurant in settings.restaurant_ids(day):
        for id_, section in enumerate(_CARD, start=100 * restaurant):
            about = f"{section} of the house"
            yield {"id": id_, "name": section, "menu_id": 10 * restaurant, "description": about}


def menu_items(settings: FeedSettings, day: date) -> Iterator[Row]:
    for restaurant in settings.restaurant_ids(day):
        for category, dishes in enumerate(_CARD.values(), start=100 * restaurant):
            for id_, dish in enumerate(dishes, start=10 * category):
                price = f"{4 + id_ % 13}.50"
                yield {"id": id_, "name": dish, "price": price, "category_id": str(category), "description": None}


def menu_item_ids(restaurant: int) -> tuple[int, ...]:
    """What a restaurant serves. An id tells where it belongs: item 7012 is of category 701, menu 70, restaurant 7."""
    sections = enumerate(_CARD.values(), start=100 * restaurant)
    return tuple(10 * category + number for category, dishes in sections for number in range(len(dishes)))


def pick(options: tuple[_T, ...], number: int) -> _T:
    return options[number % len(options)]


def _registered_at(settings: FeedSettings, after_opening: int, days_to_next: int) -> str:
    day = settings.opening + timedelta(days=max(0, after_opening) * days_to_next)
    return f"{day.isoformat()}T00:00:00Z"


def _kitchen(settings: FeedSettings, id_: int) -> str:
    return f"{pick(_KITCHENS, settings.seed + id_)} {id_}"


def _person(settings: FeedSettings, number: int) -> str:
    # Two coprime lengths: 132 people before a name comes again.
    return f"{pick(_FIRST_NAMES, settings.seed + number)} {pick(_LAST_NAMES, settings.seed + number)}"


def _address(settings: FeedSettings, number: int) -> str:
    return f"{number} {pick(_STREETS, settings.seed + number)}"


def _phone(number: int) -> str:
    return f"+1-555-{number:07d}"
