// Answers the requests of the views from the data of a report, in place of a server.

import { ServerError } from "./server-error.js";

/**
 * A recording in a report.
 * @typedef {object} ReportRecording
 * @property {import("./recording-label.js").RecordingRow} row
 * @property {any} [result] of a recording that is no trace
 * @property {any} [threads] of a trace, as all following ones
 * @property {any} [timeline] the picture of the whole trace
 * @property {any} [contexts]
 * @property {{text: string, answer: any}} [query]
 */

/**
 * @typedef {object} ReportData
 * @property {string} version
 * @property {number} made in seconds since 1970
 * @property {ReportRecording[]} recordings
 * @property {Record<string, any>} differences of traces, by `ID ID`: the second trace against the first one
 */

/** Where the rest is shown. */
const REMEDY = "open the recording itself: veneer serve --data DIR";

/**
 * @param {ReportData} report
 * @returns {import("./server.js").Answerer}
 */
export function reportAnswers(report) {
  return async (_method, path, body) => {
    const { pathname, searchParams } = new URL(path, "report:/");
    if (pathname === "/api/1/recordings") {
      return { recordings: [], files: report.recordings.map(({ row }) => row) };
    }
    const [, id, part = ""] = /^\/api\/1\/recordings\/([^/]+)(?:\/(.+))?$/.exec(pathname) ?? [];
    const recording = report.recordings.find(({ row }) => row.id === id);
    if (recording === undefined) {
      throw new ServerError("report", "this report has no such recording", REMEDY);
    }
    return known(part, recording, report, { searchParams, body });
  };
}

/**
 * @param {string} part
 * @param {ReportRecording} recording
 * @param {ReportData} report
 * @param {{searchParams: URLSearchParams, body: any}} question
 */
function known(part, recording, { differences }, { searchParams, body }) {
  const { row, query } = recording;
  const answer = {
    "": row,
    result: recording.result,
    threads: recording.threads,
    timeline: recording.timeline,
    contexts: recording.contexts,
    difference: differences[`${searchParams.get("against")} ${row.id}`],
    query: body?.text === query?.text ? query?.answer : undefined,
  }[part];
  if (answer === undefined || answer === null) {
    const problem = part === "query" ? "a report has the answer to its first query only" : "this is not in the report";
    throw new ServerError("report", problem, REMEDY);
  }
  return answer;
}
