"""Time from releasing a slider of page One dimension to the new posterior picture, in a browser (n = m = 200).

Run with a server going: ``python -m tests.benchmarks.bench_one_dimension http://127.0.0.1:8501 [chromium]``. Each
sample presses an arrow key on a slider and waits until the picture of f carries another stamp.
"""

import statistics
import sys
import time

SLIDERS = ("Lengthscale of k", "Variance of k", "Lengthscale of ℓ", "σ²", "λ")
PRESSES = 8
#: Streamlit's slider waits this long for another move before it tells the server; people do not see it as lag alone.
CHANGED = """([key, before]) => {
  const plot = document.querySelector(`[data-key="${key}"]`);
  return plot && plot.dataset.revision !== before;
}"""


def main() -> None:
    """Median and 95 % quantile over all sliders, in milliseconds."""
    from playwright.sync_api import sync_playwright

    address, browser_path = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "/usr/bin/chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(f"{address}/line")
        page.wait_for_selector('[data-key="o-surface"]', timeout=120_000)
        page.wait_for_timeout(3000)
        times = []
        for slider in SLIDERS:
            handle = page.get_by_role("slider", name=slider).first
            handle.focus()
            for press in range(PRESSES):
                before = page.eval_on_selector('[data-key="o-function"]', "e => e.dataset.revision")
                begun = time.perf_counter()
                page.keyboard.press("ArrowRight" if press % 2 else "ArrowLeft")
                page.wait_for_function(CHANGED, arg=["o-function", before], polling=5, timeout=20_000)
                times.append(1000 * (time.perf_counter() - begun))
                page.wait_for_timeout(2500)
            print(f"{slider}: median {statistics.median(times[-PRESSES:]):.0f} ms")
        ordered = sorted(times)
        print(f"all: median {statistics.median(times):.0f} ms, p95 {ordered[int(0.95 * (len(times) - 1))]:.0f} ms")
        browser.close()


if __name__ == "__main__":
    main()
