// A hook that follows a recording of the server until it ends.

import { useCallback, useEffect, useState } from "./html.js";
import { request } from "./server.js";

/** How often the server is asked, in milliseconds. */
const POLL_INTERVAL = 300;

/**
 * @param {string} id
 * @returns {{recording: any, error: unknown, retry: () => void}}
 */
export function useRecording(id) {
  const [recording, setRecording] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let isLeft = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const look = async () => {
      try {
        const row = await request("GET", `api/1/recordings/${id}`);
        if (isLeft) {
          return;
        }
        setRecording(row);
        if (row.state === "running") {
          timer = setTimeout(look, POLL_INTERVAL);
        }
      } catch (problem) {
        isLeft || setError(problem);
      }
    };
    setError(null);
    look();
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [id, attempt]);
  const retry = useCallback(() => setAttempt((before) => before + 1), []);
  return { recording, error, retry };
}
