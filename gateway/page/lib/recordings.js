// The recordings of the server: those that it made, of all tabs and JVMs, and those on disk.

import { useLoaded } from "./loaded.js";
import { request } from "./server.js";

/** @typedef {import("./recording-label.js").RecordingRow} RecordingRow */

/**
 * Starts a recording of a JVM.
 * @param {number} pid
 * @param {{kind: string, seconds: number, pattern?: string, contexts?: boolean}} wish
 * @returns {Promise<string>} the id of the recording
 */
export async function startRecording(pid, wish) {
  const { id } = await request("POST", `api/1/jvms/${pid}/recordings`, wish);
  return id;
}

/**
 * Ends and forgets a recording that the server made.
 * @param {string} id
 */
export function deleteRecording(id) {
  return request("DELETE", pathOf(id));
}

/** @param {string} id */
export function pathOf(id) {
  return `api/1/recordings/${encodeURIComponent(id)}`;
}

/**
 * All recordings, the latest of the server first, then the files.
 * @param {unknown[]} keys the list is loaded again if they change
 */
export function useRecordings(keys) {
  return useLoaded(async () => {
    const { recordings, files } = await request("GET", "api/1/recordings");
    return /** @type {RecordingRow[]} */ ([...recordings.reverse(), ...files]);
  }, keys);
}
