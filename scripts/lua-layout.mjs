/**
 * Puts the places of a layout (src/backends/redis/layout.ts) where a Lua source names them:
 *   $sole           the kind, as text
 *   $sole.token    first and last position of a field, as string.sub takes them; the first one of the words
 *   $sole.words     where the words begin
 *   $free.length    how long the fixed fields are
 *   $sole.token.at the first position, and .offset the same from 0, as text
 *   $sole.token.format(n) a number, with as many zeros before it as its place wants
 *   $sole[id, ttl]  what string.match takes to find these words
 *   $sole{id = …}   a text of all fields; a field may be named alone where its value has the same name
 */
export const withLayouts = (layouts) => (lua) =>
  lua
    .replace(/\$(\w+)\{([^}]*)\}/g, (_, name, given) => composed(named(layouts, name), given))
    .replace(/\$(\w+)\[([^\]]*)\]/g, (_, name, wanted) => pattern(named(layouts, name), wanted.split(/, */)))
    .replace(/\$(\w+)\.(\w+)(?:\.(at|offset|format))?/g, (_, name, field, part) =>
      place(named(layouts, name), field, part),
    )
    .replace(/\$(\w+)/g, (_, name) => `'${named(layouts, name).kind}'`);

function named(from, name) {
  if (!Object.hasOwn(from, name)) throw new Error(`${name} is in no layout`);
  return from[name];
}

/** Where the fixed fields begin, and the words after them. */
function starts({ fixed }) {
  let at = 1;
  const found = Object.entries(fixed).map(([name, width]) => {
    const start = at;
    at += width + 1;
    return [name, start];
  });
  return Object.fromEntries([...found, ['words', at]]);
}

function place(layout, field, part) {
  if (field === 'length') return starts(layout).words - 2;
  const at = named(starts(layout), field);
  if (part === 'format') return `('%0${layout.fixed[field]}.0f'):format`;
  if (part) return part === 'at' ? at : `'${at - 1}'`;
  return field === 'words' ? at : `${at}, ${at + layout.fixed[field] - 1}`;
}

function pattern({ words, ...layout }, wanted) {
  for (const name of wanted) named(words, name);
  const names = Object.keys(words);
  const last = Math.max(...wanted.map((name) => names.indexOf(name)));
  const parts = names.slice(0, last + 1).map((name) => (wanted.includes(name) ? `(${words[name]})` : words[name]));
  return `'^${parts.join(' ')}${last === names.length - 1 ? '$' : ''}', ${starts(layout).words}`;
}

function composed({ kind, fixed, words }, given) {
  const values = Object.fromEntries(
    given.split(/, */).map((text) => {
      const [name, value = name] = text.split(/ = (.*)/s);
      return [name, value];
    }),
  );
  if (kind) values.kind = `'${kind}'`;
  const names = [...Object.keys(fixed), ...('words' in values ? ['words'] : Object.keys(words))];
  for (const name of Object.keys(values)) if (!names.includes(name)) throw new Error(`${name} is no field`);
  return names
    .map((name) => named(values, name))
    .join(" .. ' ' .. ")
    .replaceAll("' .. ' ' .. ", " ' .. ");
}
