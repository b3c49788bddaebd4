// The one way in: `node scripts/run.mjs <start|test|check|bench|simulate|cronce|screenshots> ...`. It sets up what is missing first.
// This file keeps to syntax that any Node reads, so that an old one gets a sentence instead of a syntax error.

/** @param {string} version */
function isTooOld(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < 20 || (major === 20 && minor < 19)
}

if (isTooOld(process.versions.node)) {
  console.error(`Cronce needs Node 20.19 or newer, this is ${process.versions.node}: https://nodejs.org/`)
  process.exit(2)
} else {
  import('./commands.mjs')
    .then((commands) => commands.run(process.argv[2], process.argv.slice(3)))
    .then((code) => process.exit(code))
    .catch((error) => {
      console.error(error && error.name === 'SetupError' ? error.message : error)
      process.exit((error && error.exitCode) || 1)
    })
}
