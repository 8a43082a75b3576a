/** Runs work with the same name serially, in call order. */
export type InOrder = <T>(name: string, work: () => Promise<T>) => Promise<T>;

export function createInOrder(): InOrder {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const done = (last.get(name) ?? Promise.resolve()).then(work, work);
    last.set(name, done);
    const leave = () => {
      if (last.get(name) === done) last.delete(name);
    };
    done.then(leave, leave);
    return done;
  };
}
