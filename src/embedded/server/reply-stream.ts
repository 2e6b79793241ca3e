/** Target of a reply of many frames. */
export interface ReplyStream {
  /** True once the client has gone; whoever produces the reply should stop. */
  readonly closed: boolean
  /** Sends bytes and waits until the client keeps up. */
  write(bytes: Buffer): Promise<void>
}
