"""Pseudonyms and private addresses, computed from a secret, so they stay the same all term."""

from __future__ import annotations

import random
from collections.abc import Set as AbstractSet
from itertools import count
from typing import Final

from grader.play.schedule import secret_seed

ADJECTIVES: Final = [
    "Amber", "Ample", "Azure", "Bold", "Brave", "Brisk", "Bronze", "Calm", "Candid", "Cedar",
    "Civic", "Clever", "Coral", "Cosmic", "Crisp", "Curious", "Daring", "Deft", "Eager", "Early",
    "Fabled", "Fair", "Fleet", "Gentle", "Gilded", "Golden", "Grand", "Happy", "Hazel", "Honest",
    "Indigo", "Ivory", "Jade", "Jolly", "Keen", "Kind", "Lively", "Loyal", "Lucid", "Lunar",
    "Maple", "Merry", "Mild", "Misty", "Noble", "Nimble", "Olive", "Opal", "Patient", "Pearl",
    "Placid", "Polar", "Proud", "Quick", "Quiet", "Rapid", "Royal", "Ruby", "Rustic", "Sage",
    "Scarlet", "Serene", "Silver", "Solar", "Steady", "Sunny", "Swift", "Teal", "Tidy", "Topaz",
    "Velvet", "Violet", "Vivid", "Witty",
]  # fmt: skip
ANIMALS: Final = [
    "Alpaca", "Antelope", "Badger", "Beaver", "Bison", "Bobcat", "Camel", "Caribou", "Condor",
    "Cougar", "Crane", "Curlew", "Dingo", "Dolphin", "Eagle", "Egret", "Falcon", "Ferret", "Finch",
    "Fox", "Gazelle", "Gecko", "Gibbon", "Grouse", "Hare", "Hawk", "Heron", "Ibex", "Iguana",
    "Jackdaw", "Jaguar", "Kestrel", "Kiwi", "Koala", "Lark", "Lemur", "Leopard", "Lynx", "Magpie",
    "Marmot", "Marten", "Meerkat", "Narwhal", "Newt", "Ocelot", "Okapi", "Orca", "Osprey", "Otter",
    "Owl", "Panda", "Panther", "Pelican", "Petrel", "Plover", "Puffin", "Quail", "Raven", "Robin",
    "Salmon", "Seal", "Stork", "Swan", "Tapir", "Tern", "Tiger", "Toucan", "Turtle", "Walrus",
    "Weasel", "Wombat", "Wren", "Yak", "Zebra",
]  # fmt: skip


def pseudonym(secret: int, name: str, taken: AbstractSet[str]) -> str:
    """Return a student's pseudonym, which is not in `taken`; without `secret` nobody finds it."""
    rng = random.Random(secret_seed(secret, "pseudonym", name))
    for number in count(1):
        found = f"{rng.choice(ADJECTIVES)} {rng.choice(ANIMALS)}"
        found = found if number <= len(ADJECTIVES) else f"{found} {number}"
        if found not in taken:
            return found
    raise AssertionError


def private_token(secret: int, name: str) -> str:
    """Return the part of a private address that nobody can guess: 128 bits."""
    return f"{secret_seed(secret, 'private page', name):032x}"
