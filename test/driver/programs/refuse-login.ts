import { createServer, type AddressInfo } from 'node:net'
import { parentPort } from 'node:worker_threads'

// A server that answers every login with INVALID_CREDENTIAL; in a thread, because connect() blocks the main one.
const INVALID_CREDENTIAL = 65
const server = createServer((socket) => {
  socket.on('error', () => undefined)
  socket.on('data', () => {
    const reply = Buffer.alloc(24)
    reply.writeUIntBE(16, 2, 6)
    reply[0] = 2
    reply[1] = 2
    reply[9] = INVALID_CREDENTIAL
    socket.write(reply)
  })
})
server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port))
