"""The appearance of the window: colours, fonts, ttk styles, and smooth images of tokens."""

from __future__ import annotations

import struct
import tkinter as tk
import zlib
from tkinter import font, ttk
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from connect4.views.palette import light

BACKGROUND: Final = light("background")
CARD: Final = light("card")
TEXT: Final = light("text")
MUTED: Final = light("muted")
LINE: Final = light("line")
HOVER: Final = light("hover")
DISABLED: Final = light("disabled")
ACCENT: Final = light("accent")
ACCENT_HOVER: Final = light("accent-hover")
PLATE: Final = light("plate")
FAULT: Final = light("fault")
MADE: Final = light("made")
PLATE_MARK: Final = light("plate-mark")
MARK_INK: Final = light("mark-ink")
MARK_FAULT: Final = light("mark-fault")
PLAYERS: Final = (light("player1"), light("player2"))
INK: Final = light("player1-ink")
"""The dot on player 1's tokens and the ring on player 2's."""

SMOOTH: Final = 4
"""Samples per pixel in each direction."""

Pixels = npt.NDArray[np.float64]


def apply_theme(root: tk.Tk) -> None:
    """Set the fonts and the styles of all ttk widgets below `root`."""
    _make_fonts(root)
    root.configure(background=BACKGROUND)
    root.option_add("*TCombobox*Listbox.font", "Body")
    root.option_add("*TCombobox*Listbox.background", CARD)
    root.option_add("*TCombobox*Listbox.selectBackground", ACCENT)
    style = ttk.Style(root)
    style.theme_use("clam")
    _style_surfaces(style)
    _style_controls(style)
    _style_sliders(style)


def _make_fonts(root: tk.Tk) -> None:
    base = font.nametofont("TkDefaultFont", root)
    family = base.actual("family")
    fonts: tuple[tuple[str, int, Literal["normal", "bold"]], ...] = (
        ("Body", 10, "normal"),
        ("Strong", 10, "bold"),
        ("Small", 9, "normal"),
        ("Score", 22, "bold"),
        ("Title", 15, "bold"),
    )
    for name, size, weight in fonts:
        if name not in font.names(root):
            made = font.Font(root, name=name, exists=False, family=family, size=size, weight=weight)
            made.delete_font = False  # the font lives as long as the window, not as this object
    fixed = font.nametofont("TkFixedFont", root)
    fixed.configure(size=9)


def _style_surfaces(style: ttk.Style) -> None:
    """Set the colours of the window, its cards, labels and list."""
    style.configure(
        ".", background=BACKGROUND, foreground=TEXT, font="Body", bordercolor=LINE,
        lightcolor=CARD, darkcolor=CARD, troughcolor=LINE, focuscolor=ACCENT,
        fieldbackground=CARD, insertcolor=TEXT,
    )  # fmt: skip
    style.map(".", foreground=[("disabled", DISABLED)])
    style.configure("Card.TFrame", background=CARD, relief="solid", borderwidth=1)
    style.configure("Turn.Card.TFrame", bordercolor=ACCENT)
    style.configure("Plain.Card.TFrame", relief="flat", borderwidth=0)
    style.configure("Card.TLabel", background=CARD)
    style.configure("Muted.TLabel", foreground=MUTED)
    style.configure("Muted.Card.TLabel", background=CARD, foreground=MUTED)
    style.configure("Strong.Card.TLabel", background=CARD, font="Strong")
    style.configure("Title.TLabel", font="Title")
    style.configure("Fault.TLabel", foreground=FAULT)
    style.configure("Treeview", background=CARD, fieldbackground=CARD, rowheight=22)
    style.map("Treeview", background=[("selected", ACCENT)], foreground=[("selected", CARD)])
    style.configure("Treeview.Heading", font="Small", background=BACKGROUND, relief="flat")


def _style_controls(style: ttk.Style) -> None:
    """Set how buttons and fields look, at rest, pointed at and pressed."""
    style.configure("Score.TButton", background=CARD, font="Score", relief="flat", padding=(4, 0))
    style.map(
        "Score.TButton",
        background=[("pressed", HOVER), ("active", HOVER)],
        bordercolor=[("pressed", ACCENT), ("!pressed", CARD)],
        relief=[("pressed", "solid")],
    )
    style.configure("TButton", padding=(10, 5), background=CARD)
    style.map("TButton", background=[("disabled", BACKGROUND), ("active", HOVER)])
    style.configure("Go.TButton", background=ACCENT, foreground=CARD, font="Strong")
    for kind, state in (("Go.TButton", "!disabled"), ("Choice.Toolbutton", "selected")):
        edge = [(state, ACCENT)]
        style.map(kind, bordercolor=edge, lightcolor=edge, darkcolor=edge)
    style.map(
        "Go.TButton",
        background=[("disabled", LINE), ("active", ACCENT_HOVER)],
        foreground=[("disabled", MUTED)],
    )
    style.configure(
        "Choice.Toolbutton", padding=(10, 5), background=CARD, anchor="center", relief="raised"
    )
    style.map(
        "Choice.Toolbutton",
        background=[("selected", ACCENT), ("active", HOVER)],
        foreground=[("selected", CARD)],
    )
    for kind in ("TRadiobutton", "TCheckbutton"):
        style.configure(f"Card.{kind}", background=CARD, indicatormargin=(1, 1, 6, 1))
        style.map(f"Card.{kind}", background=[("active", CARD)])
    for kind in ("TEntry", "TCombobox", "TSpinbox"):
        style.configure(kind, padding=4)
    style.map("TCombobox", fieldbackground=[("readonly", CARD)], foreground=[("readonly", TEXT)])


def _style_sliders(style: ttk.Style) -> None:
    """Set how scroll bars and the slider look."""
    for kind, colour in (("Vertical.TScrollbar", DISABLED), ("Horizontal.TScale", ACCENT)):
        style.configure(
            kind, gripcount=0, background=colour, troughcolor=LINE, bordercolor=LINE,
            lightcolor=colour, darkcolor=colour,
        )  # fmt: skip
        faint = [("disabled", DISABLED)]
        style.map(kind, background=[*faint, ("active", MUTED)], lightcolor=faint, darkcolor=faint)
    thumb = ("Vertical.Scrollbar.thumb", {"expand": "1", "sticky": "nswe"})
    trough = {"sticky": "ns", "children": [thumb]}
    style.layout("Vertical.TScrollbar", [("Vertical.Scrollbar.trough", trough)])  # type: ignore[list-item]


def rgb(colour: str) -> Pixels:
    """Return `#rrggbb` as three numbers."""
    return np.array([int(colour[index : index + 2], 16) for index in (1, 3, 5)], dtype=np.float64)


def disc_mask(size: int, radius: float) -> Pixels:
    """Return how much of each pixel of a square a centred disc covers, 0..1."""
    steps = (np.arange(size * SMOOTH) + 0.5) / SMOOTH - size / 2
    inside = np.hypot(steps[:, None], steps[None, :]) <= radius
    covered: Pixels = inside.reshape(size, SMOOTH, size, SMOOTH).mean(axis=(1, 3))
    return covered


def png(pixels: Pixels) -> bytes:
    """Return a PNG file of RGBA values, shape `(height, width, 4)`, 0..255."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, width * 4 + 1), dtype=np.uint8)
    rows[:, 1:] = pixels.round().astype(np.uint8).reshape(height, width * 4)

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    packed = zlib.compress(rows.tobytes(), 1)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
    )


def photo(widget: tk.Misc, pixels: Pixels) -> tk.PhotoImage:
    """Return the picture for Tk."""
    return tk.PhotoImage(master=widget, data=png(pixels), format="png")


def token_picture(widget: tk.Misc, size: int, player: int) -> tk.PhotoImage:
    """Return a player's token, transparent around it: a dot inside for player 1, a ring for 2."""
    pixels = np.empty((size, size, 4))
    pixels[:, :, :3] = rgb(PLAYERS[player - 1])
    pixels[:, :, 3] = 255 * disc_mask(size, 0.43 * size)
    inner = [(0.12, INK)] if player == 1 else [(0.25, INK), (0.17, PLAYERS[1])]
    for radius, colour in inner:
        part = disc_mask(size, radius * size)[:, :, None]
        pixels[:, :, :3] += part * (rgb(colour) - pixels[:, :, :3])
    return photo(widget, pixels)


def field_picture(
    widget: tk.Misc, rows: int, columns: int, size: int, margin: int
) -> tk.PhotoImage:
    """Return a board of squares, with lines between them and around them."""
    height, width = rows * size + 2 * margin, columns * size + 2 * margin
    pixels = np.zeros((height, width, 4))
    board = pixels[margin : height - margin + 1, margin : width - margin + 1]
    board[:, :] = (*rgb(CARD), 255)
    board[::size] = board[:, ::size] = (*rgb(LINE), 255)
    return photo(widget, pixels)


def plate_picture(
    widget: tk.Misc, rows: int, columns: int, size: int, margin: int
) -> tk.PhotoImage:
    """Return the board's front with a round hole for each cell, and round corners."""
    cell = 1 - disc_mask(size, 0.40 * size)
    height, width = rows * size + 2 * margin, columns * size + 2 * margin
    cover = np.ones((height, width))
    cover[margin : height - margin, margin : width - margin] = np.tile(cell, (rows, columns))
    corner = disc_mask(2 * margin, margin)
    cover[:margin, :margin] = corner[:margin, :margin]
    cover[:margin, -margin:] = corner[:margin, margin:]
    cover[-margin:, :margin] = corner[margin:, :margin]
    cover[-margin:, -margin:] = corner[margin:, margin:]
    pixels = np.empty((height, width, 4))
    pixels[:, :, :3] = rgb(PLATE)
    pixels[:, :, 3] = 255 * cover
    return photo(widget, pixels)
