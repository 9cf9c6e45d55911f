// What the writer and the reader know together of the journal's file. Not for other modules.
#pragma once

#include <functional>
#include <string>

#include "godwit/journal/event.h"
#include "godwit/store/sqlite.h"

namespace godwit::journal {

// True where the file holds a journal of a format that this version reads, false where it is empty. Throws InputError
// where it is of a newer format or something else.
bool check_format(store::Database& database);
void create_format(store::Database& database);

void replay(store::Database& database, std::int64_t after_seq, const std::function<void(const Event&)>& fn);

// Throws what a person needs to know of a database error: what to do where the file is damaged or no journal.
[[noreturn]] void throw_explained(const store::DatabaseError& error);

}  // namespace godwit::journal
