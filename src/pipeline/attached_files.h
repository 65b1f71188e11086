#pragma once

#include "pipeline/definition.h"
#include "sql/database.h"

namespace aqueduck::pipeline {

/// Whether `setup:` and `sql:` leave the files alone that a sink opens by itself, READ_ONLY or not: in one process the
/// engine's file locks don't keep two instances apart. Nothing is run. Errors: config, at the ATTACH.
Result<void> check_attached_files(const Definition& definition, sql::Session& session);

}  // namespace aqueduck::pipeline
