/** Parameters of the form `a=1;b=2`. */
export function infoParameters(argument: string): Map<string, string> {
  const parameters = new Map<string, string>()
  for (const part of argument.split(';')) {
    const equals = part.indexOf('=')
    if (equals > 0) parameters.set(part.slice(0, equals), part.slice(equals + 1))
  }
  return parameters
}

/** `k=v;k=v` */
export function infoPairs(pairs: Record<string, string | number | boolean>): string {
  return Object.entries(pairs)
    .map(([key, value]) => `${key}=${value}`)
    .join(';')
}
