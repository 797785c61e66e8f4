/**
 * Operator's changes of a pod, merged as `kubectl patch` does: objects field by field, null removes a field, and lists
 * of named items by name. Any other list is replaced. Pure.
 */

type Json = unknown;
type JsonObject = Readonly<Record<string, Json>>;

/** Fields that identify an item of a list, the first that the item has. */
const KEYS = ['mountPath', 'name'] as const;

/** Returns the pod template with the patches applied in their order. */
export function patchPod(template: object, patches: readonly (object | undefined)[]): object {
  return patches.reduce<object>(
    (patched, patch) => (patch === undefined ? patched : (merge(patched, patch) as object)),
    template,
  );
}

function merge(base: Json, patch: Json): Json {
  if (isList(base) && isList(patch)) return isKeyed(base) && isKeyed(patch) ? mergeLists(base, patch) : patch;
  if (!isObject(patch)) return patch;
  const merged: Record<string, Json> = isObject(base) ? { ...base } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = merge(merged[name], value);
  }
  return merged;
}

function mergeLists(base: readonly JsonObject[], patch: readonly JsonObject[]): JsonObject[] {
  const merged = new Map(base.map((item) => [keyOf(item), item]));
  for (const item of patch) merged.set(keyOf(item), merge(merged.get(keyOf(item)), item) as JsonObject);
  return [...merged.values()];
}

function isKeyed(list: readonly Json[]): list is readonly JsonObject[] {
  return list.every((item) => isObject(item) && keyOf(item) !== undefined);
}

function keyOf(item: JsonObject): string | undefined {
  const key = KEYS.find((name) => typeof item[name] === 'string');
  return key === undefined ? undefined : (item[key] as string);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
