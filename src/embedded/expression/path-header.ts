const ONE_BYTE_INTEGER = 0xcc
const PATH_OPCODE = 0xfe

/** True where a list or map call is one by path: `[0xfe, levels, flags, …]`. */
export function isPath(payload: Buffer, at = 0): boolean {
  const first = at + listHeaderLength(payload[at])
  return payload[first + 1] === PATH_OPCODE && payload[first] === ONE_BYTE_INTEGER && first > at
}

function listHeaderLength(code: number): number {
  if ((code & 0xf0) === 0x90) return 1
  return code === 0xdc ? 3 : code === 0xdd ? 5 : 0
}
