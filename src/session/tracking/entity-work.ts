/** Work on one entity, as those see it that wait for its end. */
export interface EntityWork {
  readonly span: object
  readonly ended: Promise<void>
}
