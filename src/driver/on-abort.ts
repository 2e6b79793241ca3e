interface Waiting {
  readonly callbacks: Set<() => void>
  readonly fire: () => void
}

// Registers one listener for each signal, however many calls share it: past ten, Node warns of a leak.
const waitingFor = new WeakMap<AbortSignal, Waiting>()

/** Calls back once when the signal fires; one that has fired does so no more. The result makes it forget. The callback must not throw. */
export function onAbort(signal: AbortSignal, callback: () => unknown): () => void {
  const { callbacks, fire } = waitingFor.get(signal) ?? listen(signal)
  // Counts them, because a function may wait more than once.
  const own = (): void => void callback()
  callbacks.add(own)
  return () => {
    if (!callbacks.delete(own) || callbacks.size > 0) return
    signal.removeEventListener('abort', fire)
    waitingFor.delete(signal)
  }
}

function listen(signal: AbortSignal): Waiting {
  const callbacks = new Set<() => void>()
  const fire = (): void => {
    waitingFor.delete(signal)
    const all = [...callbacks]
    callbacks.clear()
    for (const callback of all) callback()
  }
  const waiting = { callbacks, fire }
  signal.addEventListener('abort', fire, { once: true })
  waitingFor.set(signal, waiting)
  return waiting
}
