// Requests to the server, and sessions: what this tab has attached in one JVM.
//
// A session has a stream of events. While the stream is interrupted, the page tries again; the server keeps
// what is attached for some seconds, and then sends all counts again.

import { ServerError } from "./server-error.js";

/** How long the page waits before it opens a lost stream again, in milliseconds. */
const RETRY_DELAY = 500;

/** @typedef {(method: string, path: string, body?: unknown) => Promise<any>} Answerer */

/** Answers requests in place of a server, in a report. @type {Answerer | null} */
let answerer = null;

/** Has all requests answered without a server. @param {Answerer} answers */
export function answerWith(answers) {
  answerer = answers;
}

/**
 * Sends a request and returns the JSON of the answer.
 *
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>}
 */
export async function request(method, path, body) {
  if (answerer !== null) {
    return answerer(method, path, body);
  }
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: method === "GET" ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new ServerError("no-server", "the server does not answer", "is `veneer serve` still running?");
  }
  if (response.status === 204 || response.status === 202) {
    return null;
  }
  const text = await response.text();
  let answer = null;
  try {
    answer = JSON.parse(text);
  } catch {
    // The server answers with JSON, except if it could not read the request.
  }
  if (response.ok && answer !== null) {
    return answer;
  }
  const error = answer?.error;
  throw new ServerError(
    error?.code ?? "bad-request",
    error?.problem ?? text.slice(0, 300),
    error?.remedy ?? "",
  );
}

/**
 * @typedef {object} AttachmentEvents What a session tells about one attachment.
 * @property {(update: import("./counts.js").Update) => void} [update]
 * @property {(line: string) => void} [print]
 * @property {(reason: string) => void} [ended]
 */

/** What this tab has attached in one JVM. */
export class Session {
  /** @param {number} pid */
  constructor(pid) {
    this.pid = pid;
    /** @type {string | null} */
    this.id = null;
    /** @type {WebSocket | null} */
    this.stream = null;
    /** @type {Promise<void> | null} */
    this.opening = null;
    /** @type {Map<string, AttachmentEvents>} */
    this.listeners = new Map();
    /** Events that arrived before their listener. @type {Map<string, any[]>} */
    this.early = new Map();
    /** The number of attachments that the server has not answered yet. */
    this.pending = 0;
    /** @type {Set<(isLost: boolean) => void>} */
    this.lossListeners = new Set();
  }

  /**
   * Attaches an instrument.
   *
   * @param {object} wish
   * @param {AttachmentEvents} events
   * @returns {Promise<{attachment: string, plan: string, attached: any}>}
   */
  async attach(wish, events) {
    await this.open();
    this.pending += 1;
    try {
      const answer = await request("POST", `api/1/sessions/${this.id}/attachments`, wish);
      this.listeners.set(answer.attachment, events);
      const early = this.early.get(answer.attachment) ?? [];
      this.early.delete(answer.attachment);
      early.forEach((message) => this.deliver(message));
      return answer;
    } finally {
      this.pending -= 1;
      if (this.pending === 0) {
        // What is left belongs to attachments that this tab has detached.
        this.early.clear();
      }
    }
  }

  /**
   * Detaches an instrument. One that is gone already is no error.
   *
   * @param {string} attachment
   */
  async detach(attachment) {
    this.listeners.delete(attachment);
    try {
      await request("DELETE", `api/1/sessions/${this.id}/attachments/${attachment}`);
    } catch (error) {
      if (!(error instanceof ServerError) || error.code !== "unknown") {
        throw error;
      }
    }
  }

  /** @param {(isLost: boolean) => void} listener */
  onLoss(listener) {
    this.lossListeners.add(listener);
    return () => this.lossListeners.delete(listener);
  }

  /** Opens the session and its stream, once. */
  open() {
    this.opening ??= this.openNow().catch((error) => {
      this.opening = null;
      throw error;
    });
    return this.opening;
  }

  async openNow() {
    const { session } = await request("POST", "api/1/sessions", { pid: this.pid });
    this.id = session;
    this.openStream(session);
  }

  /** @param {string} id */
  openStream(id) {
    const address = new URL(`api/1/sessions/${id}/stream`, location.href);
    address.protocol = "ws:";
    address.hash = "";
    const stream = new WebSocket(address);
    this.stream = stream;
    stream.addEventListener("message", ({ data }) => this.deliver(JSON.parse(data)));
    stream.addEventListener("open", () => this.tellLoss(false));
    stream.addEventListener("close", () => {
      if (this.stream === stream) {
        this.tellLoss(true);
        setTimeout(() => this.retry(id), RETRY_DELAY);
      }
    });
  }

  /** Opens a lost stream again, if the server still has the session. @param {string} id */
  async retry(id) {
    try {
      await request("GET", `api/1/sessions/${id}/attachments`);
    } catch (error) {
      if (error instanceof ServerError && error.code === "no-server") {
        setTimeout(() => this.retry(id), RETRY_DELAY);
      } else {
        this.end();
      }
      return;
    }
    this.openStream(id);
  }

  /** Forgets the session, so that the next attachment opens another one. */
  end() {
    const { stream } = this;
    this.stream = null;
    stream?.close();
    const listeners = [...this.listeners.values()];
    this.listeners.clear();
    this.early.clear();
    this.opening = null;
    listeners.forEach((events) => events.ended?.("the session has ended"));
  }

  /** @param {{event: string, attachment: string, update: any, line: string, reason: string}} message */
  deliver(message) {
    const { event, attachment } = message;
    const events = this.listeners.get(attachment);
    if (events === undefined) {
      const early = this.early.get(attachment) ?? [];
      // Without an open request, the event is one of an attachment that this tab has just detached.
      if (this.pending > 0 && early.length < 20) {
        this.early.set(attachment, [...early, message]);
      }
    } else if (event === "update") {
      events.update?.(message.update);
    } else if (event === "print") {
      events.print?.(message.line);
    } else {
      this.listeners.delete(attachment);
      events.ended?.(message.reason);
    }
  }

  /** @param {boolean} isLost */
  tellLoss(isLost) {
    this.lossListeners.forEach((listener) => listener(isLost));
  }
}

/** @type {Map<number, Session>} */
const sessions = new Map();

/**
 * The session of this tab for a JVM.
 *
 * @param {number} pid
 */
export function sessionOf(pid) {
  const session = sessions.get(pid) ?? new Session(pid);
  sessions.set(pid, session);
  return session;
}
