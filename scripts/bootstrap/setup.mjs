import { build } from './build.mjs'
import { install } from './install.mjs'
import { oneAtATime } from './lock.mjs'

/** Packages installed, everything built. A second time takes a second or two. */
export async function setUp() {
  await oneAtATime(async () => {
    await install()
    await build()
  })
}
