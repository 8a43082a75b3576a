/** The operations under way on one connection, by the ids that its client gave them. */
export type Operations = {
  /** @returns a signal that is aborted when the operation is cancelled, or its connection has gone. */
  begin(id: string): AbortSignal;
  end(id: string): void;
  cancel(id: string): void;
  /** Cancels all, and all that is to come. */
  cancelAll(): void;
};

export function createOperations(): Operations {
  const controllers = new Map<string, AbortController>();
  let gone = false;
  const cancel = (id: string) => controllers.get(id)?.abort();
  return {
    begin(id) {
      const controller = new AbortController();
      if (gone) controller.abort();
      controllers.set(id, controller);
      return controller.signal;
    },
    end: (id) => {
      controllers.delete(id);
    },
    cancel,
    cancelAll() {
      gone = true;
      for (const id of controllers.keys()) cancel(id);
    },
  };
}
