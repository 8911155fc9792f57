/** Keeps what `make` returns for each object, which must not change. Callers share the result, so they must not change it. */
export function memoize<Of extends object, Value extends object>(make: (of: Of) => Value): (of: Of) => Value {
  const made = new WeakMap<Of, Value>();
  return (of) => {
    let value = made.get(of);
    if (value === undefined) {
      value = make(of);
      made.set(of, value);
    }
    return value;
  };
}
