import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from '../bootstrap/folders.mjs'
import { runProgram } from '../bootstrap/program.mjs'

/** A project of a stranger: the packed packages unpacked side by side, their dependencies taken from this workspace. */
export class Consumer {
  /**
   * @param {string} folder
   */
  constructor(folder) {
    this.folder = folder
    mkdirSync(join(folder, 'node_modules', '@cronce'), { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  }

  /**
   * @param {string} name
   */
  folderOf(name) {
    return join(this.folder, 'node_modules', '@cronce', name)
  }

  /**
   * @param {string} name
   */
  manifestOf(name) {
    return JSON.parse(readFileSync(join(this.folderOf(name), 'package.json'), 'utf8'))
  }

  /**
   * @param {string} name
   */
  filesOf(name) {
    const entries = readdirSync(this.folderOf(name), { recursive: true, encoding: 'utf8' })
    return entries.filter((path) => !path.startsWith('node_modules')).map((path) => path.replaceAll('\\', '/'))
  }

  /**
   * @param {string} name
   * @param {string} tarball
   */
  async add(name, tarball) {
    const folder = this.folderOf(name)
    mkdirSync(folder)
    const { code, output } = await runProgram('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1'])
    if (code !== 0) throw new Error(output)
    for (const dependency of Object.keys(this.manifestOf(name).dependencies ?? {})) {
      if (dependency.startsWith('@cronce/')) continue
      const link = join(folder, 'node_modules', dependency)
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(realpathSync(join(ROOT, 'packages', name, 'node_modules', dependency)), link)
    }
  }
}
