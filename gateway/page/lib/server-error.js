// An error of the server, or of the way to it.

export class ServerError extends Error {
  /**
   * @param {string} code
   * @param {string} problem
   * @param {string} remedy
   */
  constructor(code, problem, remedy) {
    super(remedy === "" ? problem : `${problem}; ${remedy}`);
    this.code = code;
    this.problem = problem;
    this.remedy = remedy;
  }
}
