/** The keys of a JSON Schema as rows of a table: path, type, description. */

/** What is read of a schema. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** A row: path, type, description. */
export type SchemaRow = readonly [path: string, type: string, description: string];

/**
 * The rows of a schema, in its order; a `?` behind a path says that the key may be missing.
 *
 * @param root The schema.
 * @param options.schema A part of it (default: all of it).
 */
export function schemaRows(
  root: Schema,
  { schema = root, path = "" }: { readonly schema?: Schema; readonly path?: string } = {},
): SchemaRow[] {
  const resolve = (one: Schema): Schema => {
    const [, name = ""] = /^#\/\$defs\/(.+)$/.exec(one.$ref ?? "") ?? [];
    const target = root.$defs?.[name];
    return target
      ? { ...resolve(target), ...(one.description && { description: one.description }) }
      : one;
  };
  const typeOf = (given: Schema): string => {
    const one = resolve(given);
    if (one.const !== undefined) return JSON.stringify(one.const);
    if (one.enum) return one.enum.map((value) => JSON.stringify(value)).join(", ");
    const either = one.oneOf ?? one.anyOf;
    if (either) return either.map(typeOf).join(" or ");
    if (one.prefixItems) return `two of ${typeOf(one.prefixItems[0] ?? {})}`;
    if (one.type === "array") return `list of ${typeOf(one.items ?? {})}`;
    return [one.type ?? "anything"].flat().join(" or ");
  };
  /** The objects within a value: those of a list, and those that may be null. */
  const objectsIn = (given: Schema): Schema[] => {
    const one = resolve(given);
    if (one.properties) return [one];
    return [one.items, one.prefixItems?.[0], ...one.oneOf ?? [], ...one.anyOf ?? []]
      .flatMap((inner) => inner ? objectsIn(inner) : []);
  };
  return objectsIn(schema).flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).flatMap(([name, value]): SchemaRow[] => {
      const own = resolve(value);
      const type = typeOf(value);
      const mark = required.includes(name) ? "" : "?";
      const inner = `${path}${name}${/^(list|two)/.test(type) ? "[]" : ""}`;
      return [
        [`${path}${name}${mark}`, type, own.description ?? ""],
        ...schemaRows(root, { schema: value, path: `${inner}.` }),
      ];
    })
  );
}
