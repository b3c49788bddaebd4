/** Set-up that cannot go on: the message is for people and says what to do. */
export class SetupError extends Error {
  /** @override */
  name = 'SetupError'

  /**
   * @param {string} message
   * @param {number} [exitCode]
   */
  constructor(message, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}
