const FRAMES = ['|', '/', '-', '\\']
const FRAME_MS = 120
const WORTH_A_LINE_MS = 1000

/** @typedef {{ note(text: string): void, done(): void, fail(): void }} Step */

/**
 * Shows one step of the set-up on standard error, where it disturbs no output that is read by a program: a moving line in
 * a terminal, two plain lines elsewhere. A step that was over within a second is not worth a line.
 *
 * @param {string} title
 * @returns {Step}
 */
export function showStep(title) {
  const startedAt = performance.now()
  const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
  const end = (/** @type {string} */ word) => `${word} ${title} (${seconds()})`
  return process.stderr.isTTY ? movingLine(title, end) : plainLines(title, end)
}

/**
 * @param {string} title
 * @param {(word: string) => string} end
 * @returns {Step}
 */
function plainLines(title, end) {
  let shown = false
  const show = () => {
    shown = true
    process.stderr.write(`.. ${title}\n`)
  }
  const timer = setTimeout(show, WORTH_A_LINE_MS)
  timer.unref()
  const finish = (/** @type {string} */ text) => {
    clearTimeout(timer)
    process.stderr.write(`${text}\n`)
  }
  return {
    note: () => {},
    done: () => (shown ? finish(end('ok')) : clearTimeout(timer)),
    fail: () => finish(end('failed')),
  }
}

/**
 * @param {string} title
 * @param {(word: string) => string} end
 * @returns {Step}
 */
function movingLine(title, end) {
  let frame = 0
  let note = ''
  let shown = false
  const write = (/** @type {string} */ text) => process.stderr.write(`\r\u001b[K${text}`)
  const draw = () => {
    shown = true
    const width = (process.stderr.columns ?? 80) - 1
    write(`${FRAMES[frame++ % FRAMES.length]} ${title}${note === '' ? '' : `  ${note}`}`.slice(0, width))
  }
  let timer = setTimeout(() => {
    timer = setInterval(draw, FRAME_MS)
    timer.unref()
  }, WORTH_A_LINE_MS)
  timer.unref()
  const finish = (/** @type {string} */ text) => {
    clearInterval(timer)
    write(`${text}\n`)
  }
  return {
    note: (text) => {
      note = text
    },
    done: () => (shown ? finish(end('ok')) : clearInterval(timer)),
    fail: () => finish(end('failed')),
  }
}
