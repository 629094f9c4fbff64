"""The console in Chromium: a window of its own for each visit, at any width, light or dark."""

import base64
import contextlib
import json
import pathlib
import subprocess

import axe_core_python
from chromium import Navigated, Target
from emulator import PATIENCE, wait_until
from websockets.sync.client import connect

AXE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-features=LocalNetworkAccessChecks",
    "--remote-debugging-port=0", "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream",
    "--autoplay-policy=no-user-gesture-required",
]


class Window(Target):
    """A tab with a browser's own network: nothing stands between it and the server."""

    def look(self, width: int = 1280, height: int = 900, scheme: str = "light"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            # Colours on their way are no finding.
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}])

    def shot(self, file: pathlib.Path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 4000), "scale": 1}
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        file.write_bytes(base64.b64decode(picture["data"]))

    def violations(self) -> list[str]:
        """What axe-core finds, but for rules about good style."""
        self.run(AXE + ";0")
        found = self.run("axe.run(document, { resultTypes: ['violations'] }).then(result => result.violations)")
        return [
            f"{one['id']}: {node['target']} {node['html'][:160]} {node['failureSummary'][:200]}"
            for one in found for node in one["nodes"]]

    def overflow(self) -> int:
        """How many points the page is wider than its window."""
        return self.run("document.documentElement.scrollWidth - innerWidth")

    def text(self, selector: str = "main") -> str:
        return self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def click(self, selector: str):
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def until(self, script: str, what: str):
        def comes():
            with contextlib.suppress(Navigated):
                return self.run(script)

        wait_until(comes, what)

    def until_shown(self, text: str, what: str):
        self.until(f"document.querySelector('main')?.innerText.includes({json.dumps(text)})", what)

    def key(self, name: str, code: int = 0, text: str = ""):
        event = {
            "key": name, "code": {" ": "Space"}.get(name, name), "windowsVirtualKeyCode": code,
            **({"text": text} if text else {})}
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)


class Browser:
    def __init__(self, port: str, path: str, stack: contextlib.ExitStack):
        self.port, self.stack = port, stack
        self.target = Target(stack.enter_context(connect(f"ws://127.0.0.1:{port}{path}", max_size=None)))
        self.visitor = self.target.call("Target.createBrowserContext")["browserContextId"]
        self.opened = []

    def window(self, url: str | None = None) -> Window:
        made = self.target.call("Target.createTarget", url="about:blank", browserContextId=self.visitor)["targetId"]
        socket = self.stack.enter_context(connect(f"ws://127.0.0.1:{self.port}/devtools/page/{made}", max_size=None))
        self.opened.append(made)
        window = Window(socket)
        window.call("Page.enable")
        window.call("Runtime.enable")
        window.look()
        if url:
            window.open(url)
        return window

    def close_windows(self):
        """The tabs of one visit keep one live stream between them, and would follow what the next visit does."""
        while self.opened:
            self.target.call("Target.closeTarget", targetId=self.opened.pop())


@contextlib.contextmanager
def chromium(folder: pathlib.Path, *flags: str):
    process = subprocess.Popen(
        ["chromium", *FLAGS, f"--user-data-dir={folder / 'profile'}", *flags],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    ready = folder / "profile/DevToolsActivePort"
    try:
        wait_until(lambda: ready.exists() and "\n" in ready.read_text(), "the browser listens")
        port, path = ready.read_text().splitlines()
        with contextlib.ExitStack() as stack:
            yield Browser(port, path, stack)
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)
