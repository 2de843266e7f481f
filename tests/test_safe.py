"""Files that are written whole or not at all."""

import os
import sys
from pathlib import Path

import pytest

from connect4 import safe


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "marks.txt"
    safe.write_text(path, "old")
    with pytest.raises(RuntimeError), safe.writing(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX links, pipes and masks")
def test_links_stay_links_and_new_files_get_the_usual_permissions(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("file")
    (tmp_path / "touched").touch()
    safe.write_text(link, "text\r\n")
    assert link.is_symlink()
    assert (tmp_path / "file").read_bytes() == b"text\r\n"
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "touched").stat().st_mode


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX links, pipes and masks")
def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        safe.write_text(pipe, "text")
        assert os.read(reader, 10) == b"text"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
