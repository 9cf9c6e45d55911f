// A Graph as files for HTCondor's DAGMan: what `condor_submit_dag` runs without Godwit.
//
// One .dag file: a SUBMIT-DESCRIPTION block per template and site in use, named <site>_<template>; per node JOB (or
// SERVICE), VARS, SCRIPT, RETRY, PRIORITY, CATEGORY; then PARENT … CHILD, one edge a line; MAXJOBS, NODE_STATUS_FILE;
// CONFIG with a file for the limit on all jobs. The grammar is the HTCondor manual's, "DAGMan: Quick Reference". The
// same graph gives the same bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "godwit/dag/graph.h"

namespace godwit::dag {

struct WriteOptions {
  // Descriptions as files <site>_<template>.sub beside the .dag instead of blocks in it. HTCondor before 24.1 decides
  // the `if`s of a block when it reads the .dag, before a node has its VARS; files are right for every version.
  bool submit_files = false;
  // Said in the comment at the top, line by line.
  std::string comment;
  // How often DAGMan rewrites <name>.status, in seconds; 0: no NODE_STATUS_FILE.
  std::uint32_t status_interval_s = 60;
};

struct Written {
  std::filesystem::path dag_file;
  std::uint64_t bytes = 0;         // of all files
  std::vector<std::string> notes;  // what DAGMan will not do as Godwit would, for people
};

// Writes into the folder `dir`, which is made where missing. Relative paths in descriptions and scripts keep meaning
// Graph::directory: where that is another folder, JOB lines say DIR. Every file is complete or not there, the .dag
// last. Descriptions are written in HTCondor's words (dag/portable.h).
// Throws InputError at what the grammar cannot say (white space in a name or a script's argument, a line break in a
// value) and at a node without description, SystemError where a file cannot be written.
Written write(const Graph& graph, const std::filesystem::path& dir, const WriteOptions& options = {});

// The graph's name as a file name: bytes other than letters, digits, '.', '_' and '-' become '_'.
std::string file_stem(const Graph& graph);

}  // namespace godwit::dag
