"""The page at ``/`` for a person: its files as they are, and the word that this is no Marquez.

The page is static and reads Marquez's API only; it would do the same before a real Marquez. Knows no lineage.
What it may load is said in a header: its own files, and nothing from anywhere else.
"""

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lineage_assets.marquez.embedded import NAME
from lineage_assets.marquez.embedded.identity import installed_version

_FILES = Path(__file__).with_name("browser")
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    # An upgrade of the server is an upgrade of the page.
    "Cache-Control": "no-cache",
}


def page_routes() -> list[Route]:
    """The page and its files, read once."""
    files = {path.name: path.read_text("utf-8") for path in _FILES.iterdir() if path.suffix in _KINDS}
    # The page itself does not say so: before a real Marquez it would be wrong.
    said = f"<strong>{NAME}</strong> {installed_version()}. This is not Marquez; it answers Marquez's API as far as "
    whole = files.pop("index.html").replace("<!--server-->", f"{said}lineage_assets asks it.")

    async def front(_request: Request) -> Response:
        return _said(whole, ".html")

    async def file(request: Request) -> Response:
        name = request.path_params["file"]
        if name not in files:
            raise HTTPException(404, "Not Found")
        return _said(files[name], Path(name).suffix)

    return [Route("/", front), Route(f"/{_FILES.name}/{{file}}", file)]


def _said(text: str, suffix: str) -> Response:
    return Response(text, media_type=_KINDS[suffix], headers=_HEADERS)
