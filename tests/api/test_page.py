"""GET / and the files of the page: nothing inline, nothing from elsewhere, cached for good."""

import gzip
import re

import httpx
import pytest

from app.api.web_files import FOLDER, web_files
from tests.api.conftest import Opened

pytestmark = pytest.mark.anyio

MOST_BYTES = 195_000
PLAIN = {"accept-encoding": "identity"}


async def test_the_page_allows_only_scripts_and_styles_of_its_own(
    client: httpx.AsyncClient,
) -> None:
    answer = await client.get("/")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; ")
    assert "unsafe" not in policy
    assert not re.search(
        r"<style|style=|<script(?! type=\"module\" src=)|https?:|\son", answer.text
    )


async def test_every_file_of_the_page_is_served_for_good_under_the_hash(
    client: httpx.AsyncClient,
) -> None:
    tree = web_files()
    for path, file in tree.files.items():
        answer = await client.get(f"/web/{tree.hash}/{path}")
        assert (answer.status_code, answer.content) == (200, file.plain), path
        assert answer.headers["content-type"] == file.media_type
        assert "immutable" in answer.headers["cache-control"]
    links = re.findall(r'(?:src|href)="(web/[^"]+)"', (await client.get("/")).text)
    assert len(links) > 4
    for link in links:
        assert (await client.get(f"/{link}")).status_code == 200


async def test_files_are_compressed_for_whoever_takes_that(client: httpx.AsyncClient) -> None:
    zipped, plain = await client.get("/"), await client.get("/", headers=PLAIN)
    assert zipped.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert zipped.text == plain.text
    assert zipped.headers["vary"] == plain.headers["vary"] == "accept-encoding"
    assert gzip.decompress(web_files().index.gzipped) == plain.content


async def test_what_a_browser_has_already_is_not_sent_again(client: httpx.AsyncClient) -> None:
    first = await client.get("/")
    again = await client.get("/", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    among = {"if-none-match": f'"none", W/{first.headers["etag"]}'}
    assert (await client.get("/", headers=among)).status_code == 304
    other = await client.get("/", headers={**PLAIN, "if-none-match": first.headers["etag"]})
    assert other.status_code == 200


async def test_nothing_else_is_served(client: httpx.AsyncClient) -> None:
    tree = web_files().hash
    for path in (f"{tree}/package.json", f"{tree}/../settings.py", "other/main.js", f"{tree}/"):
        assert (await client.get(f"/web/{path}")).status_code == 404, path
    for path in (f"{tree}/%2e%2e/settings.py", f"{tree}//etc/passwd"):
        assert (await client.get(f"/web/{path}")).status_code == 404, path


async def test_the_page_works_below_a_root_path(opened: Opened) -> None:
    async with opened(root_path="/labels") as client:
        (script,) = re.findall(r'src="([^"]+)"', (await client.get("/labels/")).text)
        assert (await client.get(f"/labels/{script}")).status_code == 200


def test_the_whole_page_stays_small() -> None:
    assert sum(len(file.plain) for file in web_files().files.values()) < MOST_BYTES


def test_every_file_in_the_folder_is_served_or_known_not_to_be() -> None:
    names = {p.relative_to(FOLDER).as_posix() for p in FOLDER.rglob("*") if p.is_file()}
    assert names - web_files().files.keys() == {"package.json"}
