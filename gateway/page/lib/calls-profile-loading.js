// Loads the profile of a recording of calls. The latest profiles are kept, so that switching between
// views and comparisons does not read them again.

import { readProfile } from "./call-profile.js";
import { useLoaded } from "./loaded.js";
import { request } from "./server.js";

/** @typedef {import("./call-profile.js").CallProfile} CallProfile */

/** Profiles of a million contexts need some hundred megabytes. */
const MAX_KEPT_PROFILES = 2;

/** @type {Map<string, CallProfile>} */
const kept = new Map();

/** @param {string} path */
async function profileAt(path) {
  const found = kept.get(path);
  const profile = found ?? readProfile(await request("GET", path));
  // The latest one is the last one of the map.
  kept.delete(path);
  kept.set(path, profile);
  for (const oldest of [...kept.keys()].slice(0, -MAX_KEPT_PROFILES)) {
    kept.delete(oldest);
  }
  return profile;
}

/**
 * @param {string | null} path of the JSON; `null` if there is none
 * @returns {import("./loaded.js").Loaded<CallProfile | null>}
 */
export function useProfile(path) {
  return useLoaded(async () => (path === null ? null : profileAt(path)), [path]);
}
