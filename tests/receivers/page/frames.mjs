// Frame times in the browser: each frame changes the picture, and the time to the next frame is noted.

/**
 * Sends a wheel event of this kind, `zoom` or `pan`, to an element in each frame. Returns the summary of the times
 * between frames, in milliseconds.
 */
export async function wheelFrames(page, selector, wheel, frames) {
  const times = await page.evaluate(
    ({ selector: wanted, wheel: text, frames: most }) =>
      new Promise((resolve, reject) => {
        const element = document.querySelector(wanted);
        if (element === null) {
          reject(new Error(`no ${wanted}`));
          return;
        }
        // The policy of the page forbids code from texts, so the kinds of events are listed here.
        const members = {
          zoom: (n) => ({ deltaY: n % 60 < 30 ? -90 : 90, ctrlKey: true }),
          pan: (n) => ({ deltaX: n % 60 < 30 ? 24 : -24 }),
        }[text];
        const { left, top, width, height } = element.getBoundingClientRect();
        const all = [];
        let before = null;
        const frame = (now) => {
          if (before !== null) {
            all.push(now - before);
          }
          before = now;
          if (all.length === most) {
            resolve(all);
            return;
          }
          const place = { clientX: left + width * 0.37, clientY: top + Math.min(height, 400) / 2 };
          const event = { bubbles: true, cancelable: true, ...place, ...members(all.length) };
          element.dispatchEvent(new WheelEvent("wheel", event));
          requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
      }),
    { selector, wheel, frames },
  );
  return summary(times);
}

/** Median, 99th percentile and maximum of times, and the frames over 20, all in milliseconds. */
export function summary(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share) => Number(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(1));
  const slow = times.flatMap((time, frame) => (time > 20 ? [[frame, Math.round(time)]] : []));
  return { frames: times.length, median: at(0.5), p99: at(0.99), most: at(1), slow };
}

/** The used heap of a page in bytes after forced collections. */
export async function usedHeap(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  for (let n = 0; n < 3; n += 1) {
    await session.send("HeapProfiler.collectGarbage");
  }
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize;
}
