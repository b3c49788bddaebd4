import { isCronceError } from '@cronce/core'

/** What is said of a process that did not start, and the exit code: 2 where its configuration is refused, else 1. */
export function refusalOf(name: string, error: unknown): { text: string; exitCode: 1 | 2 } {
  if (!isCronceError(error, 'CRONCE_CONFIG_INVALID'))
    return { text: `the ${name} did not start:\n${String(error)}`, exitCode: 1 }
  const faults = error.faults.map(({ path, message }) => `  ${path}: ${message}`)
  return { text: ['the configuration is refused:', ...faults].join('\n'), exitCode: 2 }
}

/** Runs the body of a main, and ends the process where it throws: with every fault of a configuration that is refused. */
export async function runProcess(name: string, body: () => Promise<void>): Promise<void> {
  try {
    await body()
  } catch (error) {
    const { text, exitCode } = refusalOf(name, error)
    console.error(text)
    // What was opened until here would keep the process alive.
    process.exit(exitCode)
  }
}
