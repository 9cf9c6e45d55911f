# Writes lme4.json: what lme4 (REML) makes of data sets that the literature uses for variance components, and of the
# losses in components.json, whose sites are shares of epochs (multiple membership: Z is put in place of indicators).
#
#   apt-get install r-cran-lme4 r-cran-jsonlite
#   Rscript make_lme4.R > lme4.json
suppressMessages({library(lme4); library(jsonlite)})

components <- function(model) {
  v <- as.data.frame(VarCorr(model))
  list(variances = setNames(as.list(v$vcov), v$grp), criterion = REMLcrit(model))
}
penicillin <- lmer(diameter ~ 1 + (1 | plate) + (1 | sample), Penicillin)
dyestuff <- lmer(Yield ~ 1 + (1 | Batch), Dyestuff)
dyestuff2 <- suppressMessages(lmer(Yield ~ 1 + (1 | Batch), Dyestuff2))

d <- fromJSON("components.json")
frame <- data.frame(value = d$value, cell = factor(d$cell), seed = factor(d$seed),
                    site = factor(rep_len(seq_len(ncol(d$shares)), length(d$value))))
control <- lmerControl(optimizer = "Nelder_Mead", optCtrl = list(FtolRel = 1e-15, XtolRel = 1e-12))
parsed <- lFormula(value ~ cell + (1 | seed) + (1 | site), frame)
for (name in names(parsed$reTrms$Ztlist)) {
  rows <- nrow(parsed$reTrms$Ztlist[[name]])
  if (grepl("site", name)) parsed$reTrms$Ztlist[[name]] <- Matrix::Matrix(t(d$shares), sparse = TRUE)
}
parsed$reTrms$Zt <- do.call(rbind, parsed$reTrms$Ztlist)
deviance <- do.call(mkLmerDevfun, parsed)
best <- optimizeLmer(deviance, optimizer = "Nelder_Mead", control = list(FtolRel = 1e-15, XtolRel = 1e-12))
multiple <- mkMerMod(environment(deviance), best, parsed$reTrms, fr = parsed$fr)

print(toJSON(list(
  command = "make_lme4.R", version = as.character(packageVersion("lme4")),
  dyestuff = list(batch = as.integer(Dyestuff$Batch), yield = Dyestuff$Yield, result = components(dyestuff)),
  dyestuff2 = list(batch = as.integer(Dyestuff2$Batch), yield = Dyestuff2$Yield, result = components(dyestuff2)),
  penicillin = list(plate = as.integer(Penicillin$plate), sample = as.integer(Penicillin$sample),
                    diameter = Penicillin$diameter, result = components(penicillin)),
  multiple = list(result = components(multiple))
), auto_unbox = TRUE, digits = 10))
