import { connect } from 'node:net'

/** What a server on that port of 127.0.0.1 answers to PING within a second: ready, loading its file, or silent. */
export async function pingRedis(port: number): Promise<'ready' | 'loading' | 'silent'> {
  return await new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    const settle = (answer: 'ready' | 'loading' | 'silent') => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1000, () => settle('silent'))
    socket.once('error', () => settle('silent'))
    socket.once('close', () => settle('silent'))
    socket.once('data', (data) => settle(data.toString().startsWith('+PONG') ? 'ready' : 'loading'))
    socket.write('PING\r\n')
  })
}
