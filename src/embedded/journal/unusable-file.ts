/** Raised where a data file cannot be used; becomes SKEIN_4109 in the thread that starts the server. */
export class UnusableFileError extends Error {
  constructor(
    message: string,
    readonly fix: string,
  ) {
    super(message)
  }
}

export function notADataFile(file: string): UnusableFileError {
  return new UnusableFileError(`"${file}" is not a data file of Skein.`, 'Choose another file, or delete it.')
}

export function damaged(file: string, at: number): UnusableFileError {
  return new UnusableFileError(
    `The data file "${file}" is damaged at byte ${at}.`,
    'Restore it, or delete it to start empty; it is for development only.',
  )
}

/** For what the system says of a file. */
export function cannotBeUsed(file: string, { message }: Error): UnusableFileError {
  return new UnusableFileError(
    `The data file "${file}" cannot be used: ${message}.`,
    'Choose a file that may be read and written.',
  )
}
